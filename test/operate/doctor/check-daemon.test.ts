import { once } from 'node:events';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { configurationOf } from '../../../src/config/show.ts';
import { versionOf } from '../../../src/core/version.ts';
import { checkDaemon } from '../../../src/operate/doctor/check-daemon.ts';
import {
  checkAdminHost,
  checkNotices,
  checkStop,
} from '../../../src/operate/doctor/check-network.ts';
import { configOf } from '../../support/config-text.ts';
import { type OpenRedis, openTestRedis } from '../../support/open-redis.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';

let store: OpenRedis;
let temp: Awaited<ReturnType<typeof makeTempFolder>>;
beforeAll(async () => {
  store = await openTestRedis();
});
afterAll(() => store[Symbol.asyncDispose]());
beforeEach(async () => {
  await store.redis.flushall();
  temp = await makeTempFolder();
  await mkdir(path.join(temp.path, 'inbox'));
  await writeFile(path.join(temp.path, 'inbox', '.po-sync-environment'), 'staging\n');
});
afterEach(() => temp[Symbol.asyncDispose]());

function configWith(more: string, env: Record<string, string> = {}) {
  return configOf(
    `environment: staging
data: ${temp.path}/data
environments:
  staging: { baseUrl: 'https://api.example.com/api/v1', authUrl: 'https://auth.example.com' }
sources:
  - { name: inbox, type: inbox, path: ${temp.path}/inbox }
${more}
`,
    { env },
  ).config;
}

it('warns of an admin port that other machines reach over plain http, unless a proxy with https is known', () => {
  const found = (admin: string) =>
    checkAdminHost(configWith(`admin: { ${admin} }`, { PO_SYNC_ADMIN_TOKEN: 'a'.repeat(64) })).map(
      (one) => [one.state, one.message],
    );
  const plain = (host: string) =>
    `admin.host ${host} serves other machines over plain http: tokens and orders can be read on the way`;
  expect(found('port: 9464')).toEqual([]);
  expect(found("host: '::1'")).toEqual([]);
  expect(found('host: 0.0.0.0')).toEqual([['warn', plain('0.0.0.0')]]);
  expect(found("host: 0.0.0.0, publicUrl: 'http://localhost:8080'")).toEqual([
    ['warn', plain('0.0.0.0')],
  ]);
  expect(found("host: 0.0.0.0, publicUrl: 'https://po.example.com'")).toEqual([]);
});

it('a call that may take longer than a service manager waits is a warning', () => {
  const found = (timeout: string) =>
    checkStop(configWith(`delivery: { timeout: ${timeout} }`)).map(({ remedy }) => remedy);
  expect(found('40s')).toEqual([]);
  expect(found('90s')).toEqual([expect.stringContaining('to more than 1 min 35 s.')]);
});

describe('what daemons share', () => {
  const noPort = 'admin: { port: 0 }';
  const found = async (more = noPort) => {
    const all = await checkDaemon(store, configWith(more));
    return all.flatMap(({ check, state, message }) =>
      check === 'ledger format' ? [] : [[check, state, message]],
    );
  };

  async function mark(owner: { ledger: string; host: string; data: string }): Promise<void> {
    await writeFile(path.join(temp.path, 'inbox', '.po-sync-ledger'), JSON.stringify(owner));
  }

  it('is fine before the first start', async () => {
    expect(await found()).toEqual([]);
  });

  it('warns of several files of a pattern that are new to the ledger, unless only the newest counts', async () => {
    const files = async (more: string) => {
      const source = `- { name: erp, type: export, path: '${temp.path}/PO_*.csv'${more} }`;
      return await found(`  ${source}\n${noPort}`);
    };
    await writeFile(path.join(temp.path, 'PO_1.csv'), '');
    await mkdir(path.join(temp.path, 'PO_0.csv'));
    expect(await files('')).toEqual([]);
    await writeFile(path.join(temp.path, 'PO_2.csv'), '');
    const message = `2 files match ${temp.path}/PO_*.csv; each is read, the oldest first`;
    expect(await files('')).toEqual([['export erp', 'warn', message]]);
    expect(await files(', newestOnly: true')).toEqual([]);
    expect(await files(', doneFile: true')).toEqual([]);
    await store.redis.hset(store.keys.exports, 'erp2/PO_1.csv', 'a');
    expect(await files('')).toHaveLength(1);
    await store.redis.hset(store.keys.exports, 'erp/PO_9.csv', 'a');
    expect(await files('')).toEqual([]);
  });

  it('fails for an inbox of another ledger, as a start does', async () => {
    await mark({ ledger: 'another', host: 'host-b', data: '/srv/data' });
    const message = `The inbox ${temp.path}/inbox belongs to the ledger of /srv/data on host-b.`;
    expect(await found()).toEqual([['inbox inbox', 'fail', message]]);
  });

  it('is fine for an inbox of this ledger, or of this folder after its Redis forgot everything', async () => {
    await mark({ ledger: 'gone', host: hostname(), data: path.join(temp.path, 'data') });
    expect(await found()).toEqual([]);
    await mark({ ledger: 'ours', host: 'host-b', data: '/srv/data' });
    await store.redis.hset(store.keys.identity, { ledger: 'ours', epoch: 'first' });
    expect(await found()).toEqual([['daemon', 'warn', 'none is running']]);
  });

  it('warns after the first start when no daemon runs, and says that files wait', async () => {
    await store.redis.hset(store.keys.identity, { ledger: 'ours', epoch: 'first' });
    await mark({ ledger: 'ours', host: hostname(), data: path.join(temp.path, 'data') });
    expect(await found()).toEqual([['daemon', 'warn', 'none is running']]);
    for (const name of ['a.csv', 'b.csv.part'])
      await writeFile(path.join(temp.path, 'inbox', name), 'x');
    expect(await found()).toEqual([
      ['daemon', 'warn', 'none is running, and 1 file in an inbox waits for one'],
    ]);
    const daemon = { pid: process.pid, version: versionOf(), host: hostname(), since: 1 };
    await store.redis.set(store.keys.daemon('d'), JSON.stringify(daemon), 'PX', 60_000);
    await store.redis.zadd(store.keys.daemons, 1, 'd');
    const log =
      'the log is its standard output (pm2 logs po-sync, journalctl -u po-sync, docker logs po-sync, or with the name that you gave it)';
    const since = `process ${process.pid} since 1970-01-01 00:00:00 UTC`;
    const fine = ['daemon', 'ok', `1 running (${since}); ${log}`];
    expect(await found()).toEqual([fine]);
    await store.redis.set(
      store.keys.daemon('d'),
      JSON.stringify({ ...daemon, version: '0.1.0+1a2b3c4d' }),
      'PX',
      60_000,
    );
    const message = `process ${process.pid} runs 0.1.0+1a2b3c4d, and this is ${versionOf()}`;
    expect(await found()).toEqual([fine, ['daemon', 'warn', message]]);
    const elsewhere = { ...daemon, version: '0.1.0+1a2b3c4d', host: 'host-b' };
    await store.redis.set(store.keys.daemon('d'), JSON.stringify(elsewhere), 'PX', 60_000);
    const onOther = `1 running (process ${process.pid} on host-b since 1970-01-01 00:00:00 UTC); ${log}`;
    expect(await found()).toEqual([['daemon', 'ok', onOther]]);
  });

  it('shows the format of the ledger, and warns of one that a start would convert', async () => {
    const format = async () =>
      (await checkDaemon(store, configWith(noPort))).flatMap(({ check, state, message }) =>
        check === 'ledger format' ? [`${state}: ${message}`] : [],
      );
    expect(await format()).toEqual([]);
    await store.redis.hset(store.keys.identity, { ledger: 'ours', epoch: 'first', format: 1 });
    expect(await format()).toEqual(['ok: 1, as this version writes it']);
    await store.redis.hdel(store.keys.identity, 'format');
    expect(await format()).toEqual([
      expect.stringMatching(/^warn: 0; a daemon of this version converts it to 1/),
    ]);
  });

  it('warns of a file that a daemon cannot take, also if whoever runs doctor may read it', async () => {
    await writeFile(path.join(temp.path, 'inbox', 'a.csv'), 'x');
    const reason = 'No permission to read a.csv (mode 0600).';
    const notTaken = [
      { source: 'inbox', file: 'a.csv', reason, remedy: 'Give the daemon the right.' },
    ];
    const daemon = { pid: process.pid, version: versionOf(), host: hostname(), since: 1, notTaken };
    await store.redis.set(store.keys.daemon('d'), JSON.stringify(daemon), 'PX', 60_000);
    await store.redis.zadd(store.keys.daemons, 1, 'd');
    const text =
      'a.csv of source inbox: No permission to read a.csv (mode 0600). Give the daemon the right.';
    expect(await found()).toEqual([['not taken', 'warn', text]]);
  });

  it('fails once for a folder that several daemons miss', async () => {
    const daemon = {
      version: versionOf(),
      host: hostname(),
      foldersGone: [{ folder: 'data', path: '/srv/data' }],
    };
    for (const since of [1, 2]) {
      const text = JSON.stringify({ ...daemon, pid: process.pid, since });
      await store.redis.set(store.keys.daemon(`d${since}`), text, 'PX', 60_000);
      await store.redis.zadd(store.keys.daemons, since, `d${since}`);
    }
    const text = '/srv/data was there when the daemon started, and is gone';
    expect(await found()).toEqual([['folder data', 'fail', text]]);
  });

  it('warns of an inbox that a daemon cannot read, unless whoever runs doctor cannot read it either', async () => {
    const inbox = path.join(temp.path, 'inbox');
    const notTaken = [
      { source: 'inbox', reason: 'No permission.', remedy: 'Give the daemon the right.' },
    ];
    const daemon = { pid: process.pid, version: versionOf(), host: hostname(), since: 1, notTaken };
    await store.redis.set(store.keys.daemon('d'), JSON.stringify(daemon), 'PX', 60_000);
    await store.redis.zadd(store.keys.daemons, 1, 'd');
    expect(await found()).toEqual([
      ['not taken', 'warn', 'source inbox: No permission. Give the daemon the right.'],
    ]);
    await rm(inbox, { recursive: true });
    expect(await found()).toEqual([]);
  });

  it('warns of each pause of delivery, with all of its reason', async () => {
    const reason = `Forbidden: ${'a reason of the API '.repeat(20)}end`;
    await store.redis.hset(store.keys.breaker, { code: 'http-403', reason, since: 1, probeAt: 2 });
    expect(await found()).toEqual([['delivery', 'warn', `paused (http-403): ${reason}`]]);
    const hold = JSON.stringify({ code: 'operator', reason: 'paused by root: test', since: 1 });
    await store.redis.del(store.keys.breaker);
    await store.redis.hset(store.keys.breaker, 'hold:operator', hold);
    expect(await found()).toEqual([['delivery', 'warn', 'paused by root: test']]);
  });

  it.each([
    [
      'http-403',
      'Check what this client may do at the API; then it ends automatically when the API accepts',
    ],
    [
      'api-down',
      'Nothing to do unless token or API fails below: it ends automatically when the API accepts an order.',
    ],
    ['operator', 'Run po-sync resume when delivery may continue.'],
    ['ledger-new', "It ends when the API's list has been read."],
    ['list-incomplete', 'po-sync reconcile --expect N says how many orders there are.'],
    ['list-not-offered', 'It ends when the API offers its list; without one set list: none'],
  ])('says what to do about a pause %s', async (code, remedy) => {
    await store.redis.hset(store.keys.breaker, {
      code,
      reason: 'x'.repeat(500),
      since: 1,
      probeAt: 2,
    });
    const [finding] = await checkDaemon(store, configWith(noPort));
    expect(finding?.remedy).toContain(remedy);
    expect(finding?.message).toContain('x'.repeat(500));
  });

  it('warns of orders that the list of the API shows more than once', async () => {
    await store.redis.hset(store.keys.listedTwice, 'PO-1', 2, 'PO-2', 3);
    const message = "2 orders were created twice: the API's list shows them more than once";
    expect(await found()).toEqual([['created twice', 'warn', message]]);
  });

  it('warns of each receiver that did not accept its last notice', async () => {
    const trouble = {
      receiver: 'webhook hooks.example.com',
      waiting: 2,
      lost: 1,
      error: 'no answer',
      at: 1,
    };
    const daemon = {
      pid: process.pid,
      version: versionOf(),
      host: hostname(),
      since: 1,
      notices: [trouble],
    };
    await store.redis.set(store.keys.daemon('d'), JSON.stringify(daemon), 'PX', 60_000);
    await store.redis.zadd(store.keys.daemons, 1, 'd');
    const message =
      'webhook hooks.example.com did not accept its last notice: no answer; 2 notices wait, 1 was lost';
    expect(await found()).toEqual([['notices', 'warn', message]]);
  });

  it('warns of a daemon of this machine that was started with another configuration', async () => {
    const config = configWith('');
    const beat = async (configuration: string, host = hostname()) => {
      const daemon = { pid: process.pid, version: versionOf(), host, since: 1, configuration };
      await store.redis.set(store.keys.daemon('d'), JSON.stringify(daemon), 'PX', 60_000);
      await store.redis.zadd(store.keys.daemons, 1, 'd');
      return (await checkDaemon(store, config))
        .map(({ check, message }) => `${check}: ${message}`)
        .join('\n');
    };
    await store.redis.hset(store.keys.identity, 'epoch', 'e');
    const warning = `daemon: process ${process.pid} was started with another configuration than ${config.file}`;
    expect(await beat(configurationOf(config))).not.toContain(warning);
    const added = { ...config, sources: [...config.sources, ...config.sources] };
    expect(await beat(configurationOf(added))).toContain(warning);
    expect(
      await beat(configurationOf({ ...config, admin: { ...config.admin, port: 1 } })),
    ).not.toContain(warning);
    expect(await beat(configurationOf(added), 'another-host')).not.toContain(warning);
    await store.redis.flushall();
  });

  it('fails for an admin port that another program has, but not for that of a daemon', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    try {
      const taken = ['admin port', 'fail', `127.0.0.1:${port} is used by another program`];
      expect(await found(`admin: { port: ${port} }`)).toEqual([taken]);
      const daemon = {
        pid: process.pid,
        version: versionOf(),
        host: hostname(),
        since: 1,
        adminPort: port,
      };
      await store.redis.set(store.keys.daemon('d'), JSON.stringify(daemon), 'PX', 60_000);
      await store.redis.zadd(store.keys.daemons, 1, 'd');
      expect(await found(`admin: { port: ${port} }`)).toEqual([]);
    } finally {
      other.close();
    }
    await once(other, 'close');
    await store.redis.flushall();
    expect(await found(`admin: { port: ${port} }`)).toEqual([]);
  });
});

it('programs of notices that are missing, or cannot be run, give a warning', async () => {
  const program = path.join(temp.path, 'notify.sh');
  const found = async (command: string) => {
    const config = configWith(`notify: [{ on: [paused], command: ['${command}'] }]`);
    return (await checkNotices(config, `/nowhere:${temp.path}`)).map(({ state, message }) => [
      state,
      message,
    ]);
  };
  expect(await found(program)).toEqual([['warn', `the program ${program} does not exist`]]);
  await writeFile(program, '#!/bin/sh\n');
  expect(await found(program)).toEqual([['warn', `the program ${program} cannot be run`]]);
  await chmod(program, 0o755);
  expect(await found(program)).toEqual([['ok', `the program ${program} can be run`]]);
  expect(await found('notify.sh')).toEqual([['ok', 'the program notify.sh can be run']]);
  expect(await found('notify')).toEqual([['warn', 'the program notify does not exist']]);
});
