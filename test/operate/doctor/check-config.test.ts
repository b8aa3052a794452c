import path from 'node:path';
import { expect, it } from 'vitest';
import { checkCertificates, checkConfig } from '../../../src/operate/doctor/check-config.ts';
import { HAS_OPENSSL, openAuthority } from '../../support/certificates.ts';
import { configOf } from '../../support/config-text.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';

const DAY = 86_400_000;

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

it.skipIf(!HAS_OPENSSL)(
  'a certificate file is fine for long, a warning before its end, and a failure after it or before its begin',
  async () => {
    await using folder = await makeTempFolder();
    const { caFile, issue } = await openAuthority(folder.path);
    const lasting = await issue('lasting', { names: ['po-sync'], until: '20990101000000Z' });
    const client = await issue('client', { names: ['po-sync'] });
    const found = (tls: object, now = Date.now() + 1_000) => {
      const config = configWith('');
      const { staging } = config.environments;
      if (staging === undefined) throw new Error('no environment');
      const environments = { staging: { ...staging, tls: { caFile, ...tls } } };
      return checkCertificates({ ...config, environments }, now).map(
        ({ check, state, message }) => `${state} ${check}: ${message}`,
      );
    };
    const own = { certFile: client.cert, keyFile: client.key };
    expect(found({ certFile: lasting.cert, keyFile: lasting.key })).toEqual([
      expect.stringMatching(/^warn CA certificates of API: .*CN=ca; expires on \d{4}-\d\d-\d\d$/),
      expect.stringMatching(/^ok certificate for API: .*certificate valid until 2099-01-01$/),
    ]);
    expect(found(own, Date.now() + 10 * DAY)[1]).toMatch(/^fail .*CN=po-sync; expired on/);
    expect(found(own, Date.now() - 10 * DAY)[1]).toMatch(/^fail .*not valid before/);
    expect(found({ caFile: path.join(folder.path, 'absent.pem') })).toEqual([
      expect.stringMatching(/^fail CA certificates of API: /),
    ]);
  },
);
