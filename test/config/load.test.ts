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
          numbers: 'canonical',
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
      tracing: { enabled: false },
      log: { level: 'info' },
    });
    expect(warnings).toEqual([]);
  });

  it('is deeply frozen', () => {
    expect(() => Object.assign(config.delivery.backoff, { initial: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config.sources[0] ?? {}, { poll: 1 })).toThrow(TypeError);
  });
});

/** The columns that every mapping needs. */
const NEEDED = 'N: { is: purchaseOrderNumber }, A: { is: articleCode }, Q: { is: quantity }';

/** A mapping with these columns, and with more keys beside them. */
const withColumn = (columns: string) =>
  withMore(`mappings: { m: { columns: { ${NEEDED}, ${columns} } } }`);
const withKey = (key: string) => withMore(`mappings: { m: { columns: { ${NEEDED} }, ${key} } }`);

it('reads a mapping with its defaults, and the columns as they are written', () => {
  const { mappings } = configOf(withKey('delimiter: tab')).config;
  expect(mappings['m']).toEqual({
    delimiter: '\t',
    columns: {
      N: { is: 'purchaseOrderNumber' },
      A: { is: 'articleCode' },
      Q: { is: 'quantity' },
    },
    otherColumns: 'wait',
    orderState: 'NEW',
    quantity: 'integer',
    skipRows: [],
    fillDown: false,
    repeatedRows: 'hold',
    finalNewline: 'required',
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
  erp: { columns: { A: ignore }, encoding: utf8 }
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
      /^c:10:44 mappings\.erp\.encoding: expected one of utf-8, .*; found "utf8" \(did you mean utf-8\?\)$/,
    ),
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
    ['mappings: { "a b": {} }', 'mappings.a b: "a b" must be a name of letters, digits, - and _'],
  ])('%s', (yaml, sentence) => {
    expect(problemsIn(withMore(yaml)).join('\n')).toContain(sentence);
  });
});

describe('a wrong key of a mapping is reported with what would be right', () => {
  it.each([
    ['decimal: comma', 'decimal: expected one of ".", ","; found "comma"'],
    ['delimiter: semicolon', 'delimiter: expected tab, or one character such as "," ";" "|"'],
    ['delimiter: ";;"', 'delimiter: expected tab, or one character such as "," ";" "|"'],
    ['encoding: latin1', 'found "latin1"'],
    ['format: auto', 'format: expected one of csv, json, ndjson, xlsx, xml; found "auto"'],
    ['quote: auto', 'quote: expected none; found "auto"'],
    ['othercolumns: ignore', 'othercolumns: is not a known key (did you mean otherColumns?)'],
    ['fields: { quantity: Q }', 'fields: is not a known key (known here: format, encoding,'],
    ['orderState: OPEN', 'orderState: must be NEW'],
    [
      'quantity: all',
      'quantity: expected integer, number, or a value above zero such as { value: 1 }',
    ],
    ['quantity: { value: 1 }', 'quantity: has a value, and the column Q is quantity'],
    [
      'articleCode: { value: 4711 }',
      'articleCode.value: expected text, found 4711; put it in quotes',
    ],
    [
      'skipRows: ["(Total"]',
      'such as "^Total"; "(Total" is none: Invalid regular expression: /(Total/u: Unterminated group',
    ],
    ['skipRows: ^Total', 'skipRows: expected a list, found "^Total"; begin each entry with "- "'],
    ['lastRow: ".*END.*"', 'can take too long: repeat nothing that repeats'],
    ['records: a..b', 'records: expected a path such as data.orders'],
    ['records: 5', 'records: expected a path such as data.orders'],
    ['widths: 5', 'widths: expected a list of widths, such as [10, 5, 12]'],
    ['widths: [0]', 'widths[0]: expected a whole number from 1'],
    ['format: json, header: none', 'header: has no meaning in json'],
    ['header: none, delimiter: ";"', 'columns.N: must be a position, such as 1'],
  ])('%s', (key, sentence) => {
    const problems = problemsIn(withKey(key)).join('\n');
    expect(problems).toContain(' mappings.m.');
    expect(problems).toContain(sentence);
  });

  it.each([
    ['X: quantity', 'X: expected ignore, or what the column is, such as { is: quantity }'],
    ['X:', 'X: expected ignore, or what the column is, such as { is: quantity }'],
    ['X: {}', 'X: must have exactly one of is, send (with or without skip), field, and ignore'],
    ['X: { sned: [OPEN] }', 'X.sned: is not a known key (did you mean send?)'],
    ['X: { is: quantitiy }', 'found "quantitiy" (did you mean quantity?)'],
    ['X: { is: quantity }', 'X: is quantity, as Q is already'],
    ['X: { send: OPEN }', 'X.send: expected a list of values, such as [OPEN, ""]'],
    ['X: { skip: [] }', 'X.skip: expected a list of values, such as [OPEN, ""]'],
    ['X: { send: [1] }', 'send[0]: expected a text; put values that are numbers, true or false'],
    [
      'X: { field: x, type: string }',
      'expected one of text, integer, number, date; found "string"',
    ],
    ['X: { field: x, type: date, format: d.M }', 'expected a form of a date with d or dd,'],
    ['X: { field: items, of: order }', 'X.field: there is a field items of the order already'],
    ['X: { ignore: true, also: Y }', 'X.also: expected a list of column names, such as [Material'],
    ['X: { ignore: false }', 'X.ignore: expected true; found false'],
    ['n: ignore', 'n: has the name n of N'],
  ])('columns: { %s }', (column, sentence) => {
    const problems = problemsIn(withColumn(column));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(sentence);
  });

  it.each([
    [
      '{ is: purchaseOrderNumber, like: "(a+)+" }',
      'N.like: expected a regular expression, such as',
    ],
    ['{ is: quantity, max: 0 }', 'N.max: expected a number above zero, without quotes'],
    ['{ is: quantity, max: "5" }', 'N.max: expected a number above zero, without quotes'],
  ])('columns: { N: %s }', (column, sentence) => {
    const yaml = `mappings: { m: { columns: { N: ${column} } } }`;
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
  ['environment: [', 'is not valid YAML'],
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
mappings: { erp: { columns: { ${NEEDED} } } }
redis: { url: 'redis://:pw@redis.example.com' }
delivery: { settle: 1s }
`;
  expect(warningsIn(text, { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } })).toEqual([
    'NODE_TLS_REJECT_UNAUTHORIZED: disables certificate checks, also for prod (unset it)',
    'c:3:3 environments.prod: is not protected (protected: true requires --confirm before anything is sent there)',
    'c:3:20 environments.prod.baseUrl: does not end with /api/v1, the prefix of every API address (API part 9)',
    'c:6:13 mappings.erp: is not used by any source',
    'c:7:15 redis.url: contains a password (set PO_SYNC_REDIS_URL instead)',
    'c:8:21 delivery.settle: 1s is short: an order that the API stores later than that can be sent twice',
  ]);
});

describe('the mapping of a source', () => {
  it('may be a list, of which each must exist', () => {
    const text = withKey('format: csv').replace(
      'path: ../inbox',
      'path: ../inbox, mapping: [m, x]',
    );
    expect(problemsIn(text)).toEqual([
      'c:5:58 sources[0].mapping: there is no mapping x (did you mean m?)',
    ]);
    const { config, warnings } = configOf(text.replace('[m, x]', '[m]'));
    expect(config.sources[0]?.mapping).toEqual(['m']);
    expect(warnings).toEqual([]);
  });

  it.each(['5', '[]'])('is a name or a list of names: %s', (value) => {
    const text = LEAST.replace('path: ../inbox', `path: ../inbox, mapping: ${value}`);
    expect(problemsIn(text)).toEqual([
      'c:5:58 sources[0].mapping: expected the name of a mapping, or a list of names',
    ]);
  });
});
