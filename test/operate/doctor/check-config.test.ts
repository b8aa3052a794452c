import { expect, it } from 'vitest';
import { checkConfig } from '../../../src/operate/doctor/check-config.ts';
import { configOf } from '../../support/config-text.ts';

/** A configuration with one source and what is added. */
function configWith(more: string, env: Record<string, string> = {}, of = 'path: ../inbox') {
  const urls = "baseUrl: 'https://api.example.com/api/v1', authUrl: 'https://auth.example.com'";
  return configOf(
    `environment: staging
environments:
  staging: { ${urls} }
sources: [{ name: inbox, type: inbox, ${of} }]
${more}
`,
    { env },
  ).config;
}

it('warns of an admin port that other machines reach over plain http, unless a proxy with https is known', () => {
  const found = (admin: string) =>
    checkConfig(configWith(`admin: { ${admin} }`, { PO_SYNC_ADMIN_TOKEN: 'a'.repeat(64) })).flatMap(
      ({ check, message }) => (check === 'admin port' ? [message] : []),
    );
  const plain =
    'admin.host 0.0.0.0 serves other machines over plain http: tokens and orders can be read on the way';
  expect(found('port: 9464')).toEqual([]);
  expect(found("host: '::1'")).toEqual([]);
  expect(found('host: 0.0.0.0')).toEqual([plain]);
  expect(found("host: 0.0.0.0, publicUrl: 'http://localhost:8080'")).toEqual([plain]);
  expect(found("host: 0.0.0.0, publicUrl: 'https://po.example.com'")).toEqual([]);
});

it('a call that may take longer than a service manager waits is a warning', () => {
  const found = (timeout: string) =>
    checkConfig(configWith(`delivery: { timeout: ${timeout} }`)).flatMap(({ check, remedy }) =>
      check === 'stop' ? [remedy] : [],
    );
  expect(found('40s')).toEqual([]);
  expect(found('90s')).toEqual([expect.stringContaining('to more than 1 min 35 s.')]);
});

it('warns of a source whose mapping lets other columns or any value pass', () => {
  const found = (like: string, more: string) => {
    const columns = `{ NR: { is: purchaseOrderNumber${like} }, ART: { is: articleCode${like} }, QTY: { is: quantity } }`;
    const mappings = `mappings: { erp: { columns: ${columns}${more} } }`;
    return checkConfig(configWith(mappings, {}, 'path: ../inbox, mapping: erp')).map(
      ({ check, message }) => `${check}: ${message}`,
    );
  };
  expect(found(', like: \\d+', '')).toEqual([]);
  expect(found('', ', otherColumns: ignore')).toEqual([
    'source inbox: nothing protects it there: a column that nobody declared is ignored, and NR and ART may have any value (mapping erp)',
  ]);
});
