import { describe, expect, it } from 'vitest';
import { LEAST, problemsIn } from '../../support/config-text.ts';

const withSources = (...sources: string[]) =>
  LEAST.replace(/ {2}- .*\n/, sources.map((source) => `  - ${source}\n`).join(''));
const withEnvironments = (yaml: string) => LEAST.replace('sources:', `${yaml}\nsources:`);

describe('http to another host', () => {
  const uat = (more: string) =>
    problemsIn(
      withEnvironments(
        `  uat: { baseUrl: 'http://sandbox:8080/api/v1', authUrl: 'http://sandbox:8080'${more} }`,
      ),
    ).join('\n');

  it('is refused, with the setting that allows it', () => {
    expect(uat('')).toMatch(
      /uat\.baseUrl: must begin with https.*plainHttp: true.*\n.*uat\.authUrl: must begin/,
    );
  });

  it('is allowed where the configuration says so, but never for a protected environment', () => {
    expect(uat(', plainHttp: true')).toBe('');
    expect(uat(', plainHttp: true, protected: true')).toContain(
      'uat.baseUrl: must begin with https://',
    );
  });
});

describe('environments never share', () => {
  it.each([
    [
      'an API address, however it is spelled',
      "  uat: { baseUrl: 'https://API.example.com:443/api/v1/', authUrl: 'https://b.example.com' }",
      'environments.uat.baseUrl: is the address of staging (each environment needs its own)',
    ],
    [
      'an authentication address',
      "  uat: { baseUrl: 'https://b.example.com/api/v1', authUrl: 'https://auth.example.com/' }",
      'environments.uat.authUrl: is the address of staging (each environment needs its own)',
    ],
    [
      'the names of their variables',
      "  Staging: { baseUrl: 'https://b.example.com/api/v1', authUrl: 'https://c.example.com' }",
      'environments.Staging: would read its credentials from the same variables as staging (PO_SYNC_STAGING_…)',
    ],
  ])('%s', (_, yaml, sentence) => {
    expect(problemsIn(withEnvironments(yaml)).join('\n')).toContain(sentence);
  });

  it('but an environment may have API and authentication on one host', () => {
    expect(
      problemsIn(
        withEnvironments(
          "  uat: { baseUrl: 'https://b.example.com/api/v1', authUrl: 'https://b.example.com' }",
        ),
      ),
    ).toEqual([]);
  });
});

describe('sources', () => {
  it.each([
    [
      'have names of their own, whatever their case',
      ['{ name: erp, type: inbox, path: /a }', '{ name: ERP, type: inbox, path: /b }'],
      'sources[1].name: ERP is already the name of sources[0]',
    ],
    [
      'have mappings that exist',
      ['{ name: a, type: inbox, path: /a, mapping: erp }'],
      'sources[0].mapping: there is no mapping erp (there are no mappings)',
    ],
    [
      'have a type',
      ['{ name: a, path: /a }'],
      'sources[0].type: is missing (one of inbox, export)',
    ],
    [
      'have a known type',
      ['{ name: a, type: inbx, path: /a }'],
      'sources[0].type: expected one of inbox, export; found "inbx" (did you mean inbox?)',
    ],
    [
      'have known keys',
      ['{ name: a, type: export, path: /a, pol: 3s }'],
      'sources[0].pol: is not a known key (did you mean poll?)',
    ],
    [
      'have addresses that are safe',
      ['{ name: a, type: export, path: "http://erp.example/x" }'],
      'must begin with https',
    ],
    [
      'have addresses that are known',
      ['{ name: a, type: export, path: "ftp://erp.example/x" }'],
      'must be a complete address',
    ],
    [
      'have no keys of the other type',
      ['{ name: a, type: inbox, path: /a, newestOnly: true }'],
      'sources[0].newestOnly: is not a key of type: inbox (remove it, or change the type)',
    ],
    ['are at least one', [], 'sources: '],
  ])('%s', (_, sources, sentence) => {
    expect(problemsIn(withSources(...sources)).join('\n')).toContain(sentence);
  });

  it('of a pattern may have a newest file', () => {
    const pattern = 'type: export, path: /a/PO_*.csv';
    expect(problemsIn(withSources(`{ name: a, ${pattern}, newestOnly: true }`))).toEqual([]);
    expect(
      problemsIn(withSources(`{ name: a, type: export, path: /a/PO.csv, newestOnly: false }`)),
    ).toEqual([]);
  });

  it('name the nearest mapping', () => {
    const text = `${withSources('{ name: a, type: inbox, path: /a, mapping: epr }')}mappings: { erp: {}, shop: {} }\n`;
    expect(problemsIn(text)[0]).toContain('there is no mapping epr (did you mean erp?)');
  });
});

describe('folders are separate', () => {
  it.each([
    [
      'two inboxes in one folder',
      '/in',
      '/in/',
      'sources[1].path: is the same folder as the inbox a (use separate folders)',
    ],
    [
      'an inbox in an inbox',
      '/in',
      '/in/erp',
      'sources[1].path: is inside the folder of the inbox a',
    ],
    [
      'an inbox around an inbox',
      '/in/erp',
      '/in',
      'sources[0].path: is inside the folder of the inbox b',
    ],
    [
      'an inbox in an inbox, hidden by its name',
      '/in',
      '/in/..erp',
      'sources[1].path: is inside the folder of',
    ],
    [
      'an inbox in an inbox, by a way around',
      '/in',
      '/x/../in/./erp',
      'sources[1].path: is inside the folder of',
    ],
  ])('%s', (_, one, other, sentence) => {
    const text = withSources(
      `{ name: a, type: inbox, path: ${one} }`,
      `{ name: b, type: inbox, path: ${other} }`,
    );
    expect(problemsIn(text)).toEqual([expect.stringContaining(sentence)]);
  });

  it.each([
    [
      'reports in an inbox',
      'reports: { path: ../inbox/reports }',
      'reports.path: is inside the folder of the inbox inbox',
    ],
    ['data in an inbox', 'data: ../inbox/data', 'data: is inside the folder of the inbox inbox'],
    [
      'reports that are an inbox',
      'reports: { path: ../inbox }',
      'reports.path: is the same folder as the inbox inbox',
    ],
    [
      'an inbox in the reports',
      'reports: { path: .. }\ndata: /d',
      'sources[0].path: is inside the folder of the reports',
    ],
    [
      'an inbox in the data',
      'data: ..\nreports: { path: /r }',
      'sources[0].path: is inside the folder of the data folder',
    ],
    [
      'data in the reports',
      'reports: { path: /r }\ndata: /r/data',
      'data: is inside the folder of the reports',
    ],
    [
      'data that are the reports',
      'reports: { path: /r }\ndata: /r',
      'data: is the same folder as the reports',
    ],
  ])('%s', (_, yaml, sentence) => {
    expect(problemsIn(`${LEAST}${yaml}\n`)).toEqual([expect.stringContaining(sentence)]);
  });

  it.each(['/in/orders.csv', '/in/*.csv', '/in/sub*/x.csv'])(
    'an export is not in an inbox: %s',
    (path) => {
      const text = withSources(
        '{ name: a, type: inbox, path: /in }',
        `{ name: b, type: export, path: "${path}" }`,
      );
      expect(problemsIn(text)).toEqual([expect.stringContaining('sources[1].path: ')]);
    },
  );

  it('neighbors with a common prefix are separate, and reports may be in the data folder', () => {
    const text = `${withSources('{ name: a, type: inbox, path: /in }', '{ name: b, type: inbox, path: /inbox }', '{ name: c, type: inbox, path: /in..x }', '{ name: d, type: export, path: /in.csv }')}data: /d\nreports: { path: /d/reports }\n`;
    expect(problemsIn(text)).toEqual([]);
  });
});

describe('the admin port', () => {
  it.each(['0.0.0.0', '"::"', '10.1.2.3', 'po-sync.example.com'])(
    'at %s requires a token',
    (host) => {
      const text = `${LEAST}admin: { host: ${host} }\n`;
      expect(problemsIn(text)[0]).toContain(
        'can be reached from other machines and needs a token (set PO_SYNC_ADMIN_TOKEN',
      );
      expect(problemsIn(text, { env: { PO_SYNC_ADMIN_TOKEN: '' } })).toHaveLength(1);
      expect(problemsIn(text, { env: { PO_SYNC_ADMIN_TOKEN: 'x' } })).toEqual([]);
      expect(problemsIn(text, { env: { PO_SYNC_ADMIN_TOKEN_FILE: '/x' } })).toEqual([]);
      expect(problemsIn(text, { env: { PO_SYNC_ADMIN_READ_TOKEN: 'x' } })).toEqual([]);
      expect(problemsIn(text, { env: { PO_SYNC_METRICS_TOKEN_FILE: '/x' } })).toEqual([]);
    },
  );

  it.each(['127.0.0.1', '"::1"', 'localhost'])('at %s requires none', (host) => {
    expect(problemsIn(`${LEAST}admin: { host: ${host} }\n`)).toEqual([]);
  });
});

it('a protected environment does not start without certificate checks', () => {
  const text = LEAST.replace('{ baseUrl', '{ protected: true, baseUrl');
  expect(problemsIn(text, { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } })[0]).toContain(
    'disables certificate checks',
  );
});

it('rules are checked although another part is wrong', () => {
  const text = `${withSources('{ name: a, type: inbox, path: /in, mapping: no }', '{ name: b, type: nonsense }')}delivery: 5\n`;
  expect(problemsIn(text).join('\n')).toContain('there is no mapping no');
});
