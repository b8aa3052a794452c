import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { USUAL_FILES } from '../../src/config/source-schema.ts';
import {
  CONFIG_FILE,
  configOf,
  LEAST,
  loadText,
  problemsIn,
  warningsIn,
} from '../support/config-text.ts';

/** The minimal configuration with more keys below it. */
const withMore = (yaml: string) => `${LEAST}${yaml}\n`;

describe('the minimal configuration', () => {
  const { config, warnings } = configOf(LEAST);

  it('has every documented default', () => {
    expect(config).toEqual({
      file: CONFIG_FILE,
      environment: 'staging',
      data: '/srv/po/data',
      redis: {},
      environments: {
        staging: {
          baseUrl: 'https://api.example.com/api/v1',
          authUrl: 'https://auth.example.com',
          token: { path: 'auto', clientAuth: 'form' },
          protected: false,
          list: 'prove',
        },
      },
      sources: [
        {
          name: 'inbox',
          type: 'inbox',
          path: '/srv/po/inbox',
          stable: 2_000,
          poll: 10_000,
          doneFile: false,
          files: USUAL_FILES,
        },
      ],
      mappings: {},
      reports: { path: '/srv/po/reports', keep: 7_776_000_000 },
      ledger: { keep: 'forever' },
      notify: [],
      delivery: {
        concurrency: 8,
        timeout: 30_000,
        attempts: 12,
        backoff: { initial: 2_000, max: 600_000 },
        settle: 60_000,
        probe: { initial: 5_000, max: 300_000 },
        onDoubt: 'verify',
        readList: 'newLedger',
        refusalHold: { share: 0.5, of: 40 },
      },
      admin: { host: '127.0.0.1', port: 9464 },
      tracing: { enabled: false, traceparent: false },
      log: { level: 'info' },
    });
    expect(warnings).toEqual([]);
  });

  it('is deeply frozen', () => {
    expect(() => Object.assign(config.delivery.backoff, { initial: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config.sources[0] ?? {}, { poll: 1 })).toThrow(TypeError);
  });
});

it('reads a mapping with its defaults, one name or several for a column', () => {
  const { mappings } = configOf(
    withMore(
      'mappings: { erp: { delimiter: tab, fields: { quantity: [Q, MENGE] }, defaults: { quantity: 1.5 } } }',
    ),
  ).config;
  expect(mappings['erp']).toEqual({
    format: 'auto',
    quote: 'auto',
    headerRow: 'auto',
    skipRows: [],
    skipWhere: {},
    onlyWhere: {},
    calledOff: {},
    fillDown: false,
    finalNewline: 'required',
    repeatedRows: 'hold',
    totalRows: 'hold',
    otherReadings: 'hold',
    delimiter: '\t',
    encoding: 'auto',
    decimal: 'auto',
    fields: {
      purchaseOrderNumber: ['purchaseOrderNumber'],
      orderState: ['orderState'],
      articleCode: ['articleCode'],
      quantity: ['Q', 'MENGE'],
      items: ['items'],
    },
    defaults: { orderState: 'NEW', quantity: '1.5' },
    quantity: 'integer',
  });
});

it("starts relative paths at the file's folder, and leaves addresses and bare programs as they are", () => {
  const { config } = configOf(`${LEAST}  - { name: a, type: export, path: /mnt/erp/*.csv }
  - { name: b, type: export, path: ../erp/orders.csv }
  - { name: c, type: export, path: 'https://erp.example.com/orders?format=csv' }
data: var
reports: { path: ./r }
notify:
  - { on: [attention], command: [./tell.sh, ./untouched] }
  - { on: [paused], command: [mail, ops] }
`);
  expect(config.sources.map(({ path }) => path)).toEqual([
    '/srv/po/inbox',
    '/mnt/erp/*.csv',
    '/srv/po/erp/orders.csv',
    'https://erp.example.com/orders?format=csv',
  ]);
  expect([config.data, config.reports.path]).toEqual(['/srv/po/config/var', '/srv/po/config/r']);
  expect(config.notify.map(({ command }) => command)).toEqual([
    ['/srv/po/config/tell.sh', './untouched'],
    ['mail', 'ops'],
  ]);
});

it('applies the defaults of its type: an export is polled less often', () => {
  const { config } = configOf(
    `${LEAST}  - { name: erp, type: export, path: /mnt/x.csv, expectEvery: 24h }\n`,
  );
  expect(config.sources[1]).toMatchObject({
    type: 'export',
    stable: 2_000,
    poll: 30_000,
    expectEvery: 86_400_000,
  });
});

it('reports all problems at once, in the order of the file', () => {
  const text = `enviroment: staging
environment: stagng
environments:
  staging:
    baseURL: https://a.example/api/v1
    authUrl: http://auth.example
sources:
  - { name: a, type: inbox, path: /in, mapping: epr, poll: 10 }
mappings:
  erp: { encoding: utf8 }
`;
  expect(problemsIn(text)).toEqual([
    'c:1:1 enviroment: is not a known key (did you mean environment?)',
    'c:2:14 environment: there is no environment "stagng" (did you mean staging?)',
    'c:4:3 environments.staging.baseUrl: is missing',
    'c:5:5 environments.staging.baseURL: is not a known key (did you mean baseUrl?)',
    'c:6:14 environments.staging.authUrl: must begin with https://; http:// is only for this machine: 127.0.0.1, ::1, localhost (for the sandbox on another host, set plainHttp: true)',
    'c:8:49 sources[0].mapping: there is no mapping epr (did you mean erp?)',
    'c:8:60 sources[0].poll: expected a duration such as 250ms, 30s, 5m, 1h or 90d, found 10',
    expect.stringMatching(
      /^c:10:20 mappings\.erp\.encoding: expected one of utf-8, .*, auto; found "utf8" \(did you mean utf-8\?\)$/,
    ),
  ]);
});

it('names the unknown keys of a source also where its type is missing or wrong', () => {
  const text = `environments: { staging: { baseUrl: 'https://a.example.com', authUrl: 'https://b.example.com' } }
sources:
  - { name: erp, typ: export, path: orders.csv }
  - { name: web, type: exprt, path: orders.csv, zzz: 1 }
environment: staging
`;
  expect(problemsIn(text)).toEqual([
    'c:3:5 sources[0].type: is missing (one of inbox, export)',
    'c:3:18 sources[0].typ: is not a known key (did you mean type?)',
    'c:4:24 sources[1].type: expected one of inbox, export; found "exprt" (did you mean export?)',
    expect.stringMatching(/^c:4:49 sources\[1\]\.zzz: is not a known key \(known here: name, /),
  ]);
});

describe('a wrong value is reported with the expected one', () => {
  it.each([
    [
      'delivery: { concurrency: 0 }',
      'delivery.concurrency: expected a whole number from 1 to 1000, found 0',
    ],
    ['delivery: { concurrency: 2.5 }', 'expected a whole number from 1 to 1000, found 2.5'],
    ['delivery: { concurrency: "8" }', 'expected a whole number from 1 to 1000, found "8"'],
    [
      'delivery: { timeout: 30 }',
      'delivery.timeout: expected a duration such as 250ms, 30s, 5m, 1h or 90d, found 30',
    ],
    ['delivery: { timeout: 0s }', 'delivery.timeout: must be between 10ms and 10m, found 0s'],
    [
      'delivery: { probe: { max: 90d } }',
      'delivery.probe.max: must be between 10ms and 24d, found 90d',
    ],
    ['delivery: { refusalHold: { share: 50 } }', 'expected a share such as 50%, found 50'],
    ['delivery: { refusalHold: { share: 0% } }', 'must be above 0% and at most 100%, found 0%'],
    ['delivery: { refusalHold: { share: 101% } }', 'must be above 0% and at most 100%, found 101%'],
    [
      'delivery: { onDoubt: verfy }',
      'expected one of verify, hold; found "verfy" (did you mean verify?)',
    ],
    [
      'delivery: { retries: 5 }',
      'delivery.retries: is not a known key (known here: concurrency, timeout,',
    ],
    ['delivery: { atempts: 5 }', 'delivery.atempts: is not a known key (did you mean attempts?)'],
    ['delivery: 8', 'delivery: expected keys and values, found 8'],
    ['delivery:', 'delivery: has no value: give it one, or remove the key'],
    ['reports: { path: "" }', 'reports.path: must not be empty'],
    ['data: ~/po-sync', 'data: must not begin with ~'],
    [
      'data: C:\\po-sync',
      'data: is a Windows path: write the folder of this machine where the share is mounted',
    ],
    ['data: C:/po-sync', 'data: is a Windows path'],
    ["data: '\\\\server\\share'", 'data: is a Windows path'],
    ['data: “../data”', 'data: begins with the typographic quote “: use " or \''],
    [
      'mappings: { m: { decimal: comma } }',
      'mappings.m.decimal: expected one of ".", ",", auto; found "comma"',
    ],
    ['mappings: { m: { decimal: comma } }', 'found "comma" (use ",")'],
    ['mappings: { m: { delimiter: semicolon } }', 'or "\\t" (use ";")'],
    ['mappings: { m: { delimiter: Comma } }', '(use ",")'],
    ['mappings: { m: { encoding: latin1 } }', 'found "latin1" (use iso-8859-1)'],
    ['mappings: { m: { encoding: Latin-9 } }', '(use iso-8859-15)'],
    ['mappings: { m: { encoding: cp1252 } }', '(use windows-1252)'],
    ['mappings: { m: { encoding: ANSI } }', '(use windows-1252)'],
    [
      'notify: { on: [paused] }',
      'notify: expected a list, found keys and values; begin each entry with "- "',
    ],
    ['data: 5', 'data: expected text, found 5; put it in quotes'],
    ['data: "a\\0b"', 'data: must not contain control characters'],
    ['ledger: { keep: never }', 'ledger.keep: expected forever, or a duration such as 730d'],
    ['admin: { port: 65536 }', 'admin.port: expected a whole number from 0 to 65535, found 65536'],
    [
      'log: { level: verbose }',
      'expected one of trace, debug, info, warn, error, fatal, silent; found "verbose"',
    ],
    [
      'redis: { url: "http://x" }',
      'redis.url: must be an address such as redis://127.0.0.1:6379/0',
    ],
    ['redis: { url: "unix://run/redis.sock" }', 'redis.url: must be an address such as'],
    ['redis: { sentinels: [a] }', 'redis.sentinels[0]: must be host:port'],
    ['redis: { sentinels: ["a:1"] }', 'redis.sentinels: needs master'],
    ['redis: { master: orders }', 'redis.master: only belongs to sentinels'],
    [
      'redis: { url: "redis://a", cluster: ["a:1"] }',
      'redis.cluster: url and cluster exclude each other',
    ],
    ['redis: { url: "redis://127.0.0.1/zero" }', 'redis.url: must be an address such as'],
    ['notify: [{ on: [attention] }]', 'notify[0]: must have a webhook or a command'],
    [
      'notify: [{ on: [], webhook: "https://h.example" }]',
      'notify[0].on: must name at least one of',
    ],
    [
      'notify: [{ on: [attenton], command: [x] }]',
      'notify[0].on[0]: expected one of attention, paused, silent; found',
    ],
    [
      'notify: [{ on: [paused], webhook: "http://h.example" }]',
      'notify[0].webhook: must begin with https://',
    ],
    ['notify: [{ on: [paused], command: [] }]', 'notify[0].command: must name a program'],
    ['mappings: { m: { delimiter: ";;" } }', 'expected auto, or one character such as'],
    [
      'mappings: { m: { fields: { quantity: 5 } } }',
      'fields.quantity: expected a column name, or a list of column names',
    ],
    [
      'mappings: { m: { fields: { quantity: [] } } }',
      'fields.quantity: must name at least one column',
    ],
    [
      'mappings: { m: { fields: { qty: Q } } }',
      'mappings.m.fields.qty: is not a known key (known here: purchaseOrderNumber,',
    ],
    [
      'mappings: { m: { defaults: { orderState: OPEN } } }',
      'defaults.orderState: must be NEW, the only state',
    ],
    [
      'mappings: { m: { defaults: { quantity: none } } }',
      'defaults.quantity: expected a number above zero',
    ],
    [
      'mappings: { m: { defaults: { articleCode: 4711 } } }',
      'articleCode: expected text, found 4711; put it in quotes',
    ],
    ['mappings: { "a b": {} }', 'mappings.a b: "a b" must be a name of letters, digits, - and _'],
  ])('%s', (yaml, sentence) => {
    expect(problemsIn(withMore(yaml)).join('\n')).toContain(sentence);
  });
});

describe('an environment is refused', () => {
  const environments = (yaml: string) => LEAST.replace(/ {2}staging: .*\n/, yaml);

  it.each([
    [
      "  staging: { authUrl: 'https://auth.example.com' }\n",
      'environments.staging.baseUrl: is missing',
    ],
    [
      "  staging: { baseUrl: 'https://u:pw@a.example/api/v1', authUrl: 'https://b.example' }\n",
      'must not contain credentials',
    ],
    [
      "  staging: { baseUrl: 'https://a.example/api/v1?x=1', authUrl: 'https://b.example' }\n",
      'must not have a query',
    ],
    [
      "  staging: { baseUrl: 'http://a.example/api/v1', authUrl: 'https://b.example' }\n",
      'must begin with https://',
    ],
    [
      "  staging: { baseUrl: 'https://a.example/api/v1/purchase-orders/', authUrl: 'https://b.example' }\n",
      'po-sync adds /purchase-orders itself',
    ],
    [
      "  staging: { baseUrl: 'https://a.example/api/v1', authUrl: 'https://b.example/oauth2/token' }\n",
      'must be the address without the token path',
    ],
    [
      "  staging: { baseUrl: 'https://a.example/api/v1', authUrl: 'https://b.example', token: { path: /oauth2/tokn } }\n",
      'did you mean /oauth2/token?',
    ],
    [
      "  staging: { baseUrl: 'https://a.example/api/v1', authUrl: 'https://b.example', clientSecret: hunter2 }\n",
      'never put credentials in this file: set PO_SYNC_<ENVIRONMENT>_CLIENT_ID',
    ],
    [
      "  staging: { baseUrl: 'https://a.example/api/v1', authUrl: 'https://b.example', statuses: { refuse: [409, 504], retry: [409] } }\n",
      'statuses.refuse[1]: 504 cannot be listed: its meaning is fixed',
    ],
    [
      "  staging: { baseUrl: 'https://a.example/api/v1', authUrl: 'https://b.example', statuses: { refuse: [409, 423], retry: [409] } }\n",
      'statuses.retry: 409 cannot be in refuse and in retry',
    ],
    [
      "  staging: { baseUrl: 'https://a.example/api/v1', authUrl: 'https://b.example', headers: { 'X Key': a, Authorization: b } }\n",
      'headers.X Key: "X Key" is not the name of an HTTP header',
    ],
    [
      "  staging: { baseUrl: 'https://a.example/api/v1', authUrl: 'https://b.example', idempotencyKey: { header: Accept, valid: 24h } }\n",
      'idempotencyKey.header: Accept is set by po-sync or by the connection',
    ],
    [
      "  staging: { baseUrl: 'https://a.example/api/v1', authUrl: 'https://b.example', idempotencyKey: { header: X-Key, valid: 24h }, headers: { x-key: b } }\n",
      'headers.x-key: is the header X-Key again',
    ],
    [
      "  staging: { baseUrl: 'https://a.example/api/v1', authUrl: 'https://b.example', idempotencyKey: { header: X-Key, valid: 90s } }\n",
      'idempotencyKey.valid: 90s is not longer than delivery.timeout and delivery.settle together',
    ],
    [
      "  staging: { baseUrl: 'https://a.example/api/v1', authUrl: 'https://b.example', idempotencyKey: { header: X-Key } }\n",
      'idempotencyKey.valid: expected a duration such as',
    ],
    [
      "  staging: { baseUrl: 'https://a.example/api/v1', authUrl: 'https://b.example', headers: { X-Key: a, x-key: b } }\n",
      'headers.x-key: is the header X-Key again',
    ],
    [
      "  staging: { baseUrl: 'https://a.example/api/v1', authUrl: 'https://b.example', statuses: { retry: [400, 200] } }\n",
      'statuses.retry[1]: expected a whole number from 400 to 599, found 200',
    ],
    [
      "  -x: { baseUrl: 'https://a.example/api/v1', authUrl: 'https://b.example' }\n",
      '"-x" must be a name',
    ],
    [
      "  __proto__: { baseUrl: 'https://a.example/api/v1', authUrl: 'https://b.example' }\n",
      'this name is reserved',
    ],
    ['  {}\n', 'environments: must contain at least one environment'],
  ])('%s', (yaml, sentence) => {
    expect(problemsIn(environments(yaml)).join('\n')).toContain(sentence);
  });

  it('is refused without showing a possible secret', () => {
    const yaml =
      "  staging: { baseUrl: 'https://u:hunter2@a.example', authUrl: 'b', headers: { A: 'hunter2 ', B: 'hünter2', C: [hunter2], D: { file: '' } }, token: hunter2, clientSecret: hunter2 }\n";
    const text = `${environments(yaml)}redis: redis://:hunter2@h/0\nadmin: 'https://hunter2@x'\n`;
    expect(
      problemsIn(text, { env: { PO_SYNC_REDIS_URL: 'http://:hunter2@h' } }).join('\n'),
    ).not.toContain('hunter2');
  });
});

describe('a header of an environment', () => {
  const withHeader = (yaml: string) =>
    LEAST.replace("auth.example.com'", `auth.example.com', headers: { ${yaml} }`);

  it.each([
    'Authorization',
    'content-type',
    'ACCEPT',
    'User-Agent',
    'traceparent',
    'Host',
    'Content-Length',
    'Connection',
    'Proxy-Connection',
    'Transfer-Encoding',
    'TE',
    'Expect',
    'Accept-Encoding',
  ])('is none that po-sync or the connection sets: %s', (name) => {
    expect(problemsIn(withHeader(`${name}: a`)).join()).toContain(
      `headers.${name}: ${name} is set by po-sync or by the connection`,
    );
  });

  it.each(['X-Company: 0042', 'X-Company: 42', 'X-Flag: true', 'X-Key:', 'X-Key: { key: a }'])(
    'has text in quotes, or a file, as its value: %s',
    (yaml) => {
      expect(problemsIn(withHeader(yaml)).join()).toContain(
        'must be text in quotes, such as "0042"',
      );
    },
  );

  it.each(['"a\\nb"', "' a'", "'a '", "''", 'ü'])('has a value that HTTP allows: %s', (value) => {
    expect(problemsIn(withHeader(`X-Key: ${value}`)).join()).toContain(
      'headers.X-Key: must be printable ASCII text without spaces at its ends',
    );
  });

  it('may name a file, relative to the configuration', () => {
    const { config } = configOf(withHeader('X-Company: "0042", X-Key: { file: key }'));
    expect(config.environments['staging']?.headers).toEqual({
      'X-Company': '0042',
      'X-Key': { file: path.join(path.dirname(CONFIG_FILE), 'key') },
    });
  });
});

describe('the environment', () => {
  const two = LEAST.replace(
    'sources:',
    "  uat: { baseUrl: 'https://uat.example.com/api/v1', authUrl: 'https://login.example.com' }\nsources:",
  );
  const unsaid = two.replace(/^environment: .*\n/, '');

  it.each([
    ['the flag', { environment: 'uat', env: { PO_SYNC_ENVIRONMENT: 'staging' } }, 'uat'],
    ['the variable', { env: { PO_SYNC_ENVIRONMENT: 'uat' } }, 'uat'],
    ['the file', { env: { PO_SYNC_ENVIRONMENT: '' } }, 'staging'],
  ])('is chosen by %s', (_, given, environment) => {
    expect(configOf(two, given).config.environment).toBe(environment);
  });

  it('must be chosen', () => {
    expect(problemsIn(unsaid)).toEqual([
      'c:1:1 environment: no environment is chosen; known: staging, uat (set --environment, PO_SYNC_ENVIRONMENT or the key environment)',
    ]);
  });

  it.each([
    ['--environment', { environment: 'uta' }],
    ['PO_SYNC_ENVIRONMENT', { env: { PO_SYNC_ENVIRONMENT: 'uta' } }],
  ])('that %s names must exist', (path, given) => {
    expect(problemsIn(two, given)).toEqual([
      `${path}: there is no environment "uta" (did you mean uat?)`,
    ]);
  });

  it.each(['constructor', 'toString', '__proto__'])(
    'is not found in what objects inherit: %s',
    (environment) => {
      expect(problemsIn(two, { environment })).toHaveLength(1);
    },
  );
});

describe('variables', () => {
  it('override the address of Redis and the admin port', () => {
    const env = { PO_SYNC_REDIS_URL: 'redis://:pw@10.0.0.1:6380/2', PO_SYNC_ADMIN_PORT: '0' };
    const { config } = configOf(
      withMore('redis: { url: "redis://127.0.0.1" }\nadmin: { port: 1 }'),
      { env },
    );
    expect(config.redis).toEqual({ url: env.PO_SYNC_REDIS_URL });
    expect(config.admin.port).toBe(0);
  });

  it('add the number of the instance to the admin port, from wherever it is, but not to 0', () => {
    const portWith = (env: Record<string, string>, more = '') =>
      configOf(withMore(more), { env: { PO_SYNC_INSTANCE: '2', ...env } }).config.admin.port;
    expect(portWith({})).toBe(9466);
    expect(portWith({ PO_SYNC_ADMIN_PORT: '7000' })).toBe(7002);
    expect(portWith({}, 'admin: { port: 8000 }')).toBe(8002);
    expect(portWith({ PO_SYNC_ADMIN_PORT: '0' })).toBe(0);
    expect(problemsIn(LEAST, { env: { PO_SYNC_INSTANCE: '-1' } })[0]).toContain(
      'PO_SYNC_INSTANCE: must be a number',
    );
  });

  it('give the delivery daemons of ecosystem.config.cjs the admin ports after that of the intake daemon', () => {
    vi.stubEnv('PO_SYNC_DELIVERIES', '2');
    type App = { name: string; env: Record<string, string> };
    const { apps } = createRequire(import.meta.url)('../../ecosystem.config.cjs') as {
      apps: App[];
    };
    vi.unstubAllEnvs();
    const portOf = (app: number, instance: string, port = '') => {
      const own = apps[app]?.env ?? {};
      const env = {
        ...own,
        PO_SYNC_INSTANCE: instance,
        PO_SYNC_ADMIN_PORT: port || (own['PO_SYNC_ADMIN_PORT'] ?? ''),
      };
      return configOf(withMore('admin: { port: 25464 }'), { env }).config.admin.port;
    };
    expect([portOf(0, '0'), portOf(1, '0'), portOf(1, '1')]).toEqual([25_464, 25_465, 25_466]);
    expect([portOf(0, '0', '7000'), portOf(1, '0', '7000'), portOf(1, '1', '0')]).toEqual([
      7_000, 7_001, 0,
    ]);
  });

  it('refuse a number of daemons in ecosystem.config.cjs that is none; empty counts as not set', () => {
    const load = createRequire(import.meta.url);
    const file = load.resolve('../../ecosystem.config.cjs');
    const appsWith = (variable: string, value: string) => {
      vi.stubEnv(variable, value);
      delete load.cache[file];
      try {
        return (load(file) as { apps: { instances: number }[] }).apps.map((app) => app.instances);
      } finally {
        vi.unstubAllEnvs();
        delete load.cache[file];
      }
    };
    expect(['', ' ', '0', '3'].map((value) => appsWith('PO_SYNC_DELIVERIES', value))).toEqual([
      [1],
      [1],
      [1],
      [1, 3],
    ]);
    expect(['', '2'].map((value) => appsWith('PO_SYNC_INSTANCES', value))).toEqual([[1], [2]]);
    for (const value of ['x', '1.5', '-1', '2 daemons'])
      for (const variable of ['PO_SYNC_DELIVERIES', 'PO_SYNC_INSTANCES'])
        expect(() => appsWith(variable, value)).toThrow(
          `${variable}: "${value}" is not a number of daemons. Set it to a whole number, or unset it.`,
        );
  });

  it('refuse an admin port that passes the last one with the number of the instance, and name what to change', () => {
    const env = { PO_SYNC_ADMIN_PORT: '65535', PO_SYNC_INSTANCE: '0', PO_SYNC_FIRST_INSTANCE: '1' };
    const sum =
      'with PO_SYNC_INSTANCE and PO_SYNC_FIRST_INSTANCE added it is 65535 + 1 = 65536, but the highest port is 65535';
    const set = (name: string) =>
      `set ${name} lower, with a port above it for each further daemon, or to 0 for any free port`;
    expect(problemsIn(LEAST, { env })).toEqual([
      `PO_SYNC_ADMIN_PORT: ${sum} (${set('PO_SYNC_ADMIN_PORT')})`,
    ]);
    const inFile = problemsIn(withMore('admin: { port: 65535 }'), {
      env: { PO_SYNC_INSTANCE: '1' },
    });
    expect(inFile).toEqual([expect.stringMatching(/^\S+:\d+:\d+ admin\.port: with /)]);
    expect(inFile[0]).toContain(set('admin.port'));
    expect(
      configOf(LEAST, { env: { ...env, PO_SYNC_FIRST_INSTANCE: '0' } }).config.admin.port,
    ).toBe(65_535);
  });

  it('that are empty count as not set', () => {
    const { config } = configOf(LEAST, { env: { PO_SYNC_REDIS_URL: '', PO_SYNC_ADMIN_PORT: '' } });
    expect([config.redis, config.admin.port]).toEqual([{}, 9464]);
  });

  it.each(['7x', '-1', '65536', '0x10', ' 80', '1e3'])('hold a port, not %j', (value) => {
    expect(problemsIn(LEAST, { env: { PO_SYNC_ADMIN_PORT: value } })[0]).toContain(
      'PO_SYNC_ADMIN_PORT: expected a whole',
    );
  });
});

it.each([
  ['', 'c:1:1 environments: is missing'],
  ['# only a comment\n', 'c:1:1 environments: is missing'],
  ['- a\n', 'expected keys and values, found a list'],
  ['hello', 'expected keys and values, found "hello"'],
  ['environment: [', 'this [ is never closed'],
])('text that is not a configuration is reported, not thrown: %j', (text, sentence) => {
  expect(problemsIn(text).join('\n')).toContain(sentence);
});

it('reads a file with a byte order mark and Windows line ends', () => {
  expect(loadText(`\uFEFF${LEAST.replaceAll('\n', '\r\n')}`).ok).toBe(true);
});

it('warns about allowed but risky settings', () => {
  const text = `environment: prod
environments:
  prod: { baseUrl: 'https://api.example.com', authUrl: 'https://auth.example.com' }
sources:
  - { name: inbox, type: inbox, path: ../inbox }
mappings: { erp: {} }
redis: { url: 'redis://:pw@redis.example.com' }
delivery: { settle: 1s }
`;
  expect(warningsIn(text, { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } })).toEqual([
    'NODE_TLS_REJECT_UNAUTHORIZED: disables certificate checks, also for prod (unset it)',
    'c:3:3 environments.prod: is not protected (protected: true requires --confirm before anything is sent there)',
    'c:3:20 environments.prod.baseUrl: does not end with /api/v1, the prefix of every API address (API part 9)',
    'c:6:13 mappings.erp: is not used by any source',
    'c:7:15 redis.url: contains a password (set PO_SYNC_REDIS_URL instead)',
    'c:7:15 redis.url: is not encrypted: orders and password cross the network in clear text (use rediss://)',
    'c:8:21 delivery.settle: 1s is short: an order that the API stores later than that can be sent twice',
  ]);
});

describe('a value that is not usable has one problem that says what would be right', () => {
  const value = 'expected a value, or a list of values, such as DRAFT or [DRAFT, "on hold"]';
  const header = 'mappings.m.headerRow: expected auto, or the number of a line, which is 1 or more';

  it.each([
    ['calledOff: { Status: , State: x }', `mappings.m.calledOff.Status: ${value}`],
    ['skipWhere: { Status: { a: 1 } }', `mappings.m.skipWhere.Status: ${value}`],
    ['headerRow: 0', header],
    ['headerRow: -1', header],
    ['headerRow: 1.5', header],
    ['headerRow: 99999999999999999999', header],
  ])('%s', (key, problem) => {
    expect(problemsIn(withMore(`mappings: { m: { ${key} } }`))).toEqual([
      expect.stringMatching(/^c:6:\d+ /),
    ]);
    expect(problemsIn(withMore(`mappings: { m: { ${key} } }`))[0]).toContain(` ${problem}`);
  });

  it('a mapping that is written in a source', () => {
    const text = LEAST.replace(
      'path: ../inbox',
      'path: ../inbox, mapping: { fields: { quantity: Q } }',
    );
    expect(problemsIn(text)).toEqual([
      'c:5:58 sources[0].mapping: expected the name of a mapping, found keys and values (put these keys below mappings, under a name such as erp, and write mapping: erp here)',
    ]);
  });
});
