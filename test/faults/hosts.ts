import { execFile } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Redis } from 'ioredis';
import { keysOf } from '../../src/redis/keys.ts';
import {
  type Account,
  accountOf,
  allReported,
  countOf,
  type DroppedFile,
  dropOrders,
} from '../support/account.ts';
import { freePort } from '../support/free-port.ts';
import { type Running, startProgram } from '../support/program.ts';
import { connectAsAdmin } from '../support/redis-groups.ts';
import { settledBatches } from '../support/settled-batches.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { credentials, openWorkplace } from '../support/workplace.ts';

const run = promisify(execFile);
const ip = (...args: string[]) => run('ip', args);

const LAUNCHER = path.resolve(import.meta.dirname, '../../bin/po-sync');
/** Where every host finds Redis and the API. */
const SHARED = '10.219.0.1';

/** Whether this user may make network namespaces. */
export async function canMakeHosts(): Promise<boolean> {
  const name = `po-sync-${process.pid}`;
  return ip('netns', 'add', name)
    .then(() => ip('netns', 'del', name))
    .then(
      () => true,
      () => false,
    );
}

/** A host with a separate network, one cable from the shared one. */
type Host = AsyncDisposable & { name: string; cable(state: 'up' | 'down'): Promise<unknown> };

async function openHost(nth: number): Promise<Host> {
  await using stack = new AsyncDisposableStack();
  const name = `po-sync-${process.pid}-${nth}`;
  const [near, far] = [`psn${process.pid}-${nth}`, `psf${process.pid}-${nth}`];
  await ip('netns', 'add', name);
  stack.defer(async () => void (await ip('netns', 'del', name)));
  await ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', name);
  await ip('addr', 'add', `10.219.${nth}.1/24`, 'dev', near);
  await ip('link', 'set', near, 'up');
  await ip('-n', name, 'addr', 'add', `10.219.${nth}.2/24`, 'dev', far);
  await ip('-n', name, 'link', 'set', far, 'up');
  await ip('-n', name, 'link', 'set', 'lo', 'up');
  const route = () => ip('-n', name, 'route', 'add', SHARED, 'via', `10.219.${nth}.1`);
  await route();
  const kept = stack.move();
  return {
    name,
    // The route leaves with the cable.
    cable: async (state) => {
      await ip('-n', name, 'link', 'set', far, state);
      if (state === 'up') await route();
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/**
 * Three hosts share folder, Redis and API. In the middle of the work one is cut off, one is killed and one is frozen for
 * some seconds. `pause`: seconds until the next order was stored. `held`: orders that were in the hands of the hosts then;
 * `late`: those of them that were settled more than a minute of ledger time later.
 */
export async function hosts(
  orders: number,
): Promise<Account & { pause: number; held: number; late: number }> {
  await using stack = new AsyncDisposableStack();
  await ip('addr', 'add', `${SHARED}/32`, 'dev', 'lo');
  stack.defer(async () => void (await ip('addr', 'del', `${SHARED}/32`, 'dev', 'lo')));
  const redis = stack.use(
    await startTestRedis({ settings: { bind: '0.0.0.0', 'protected-mode': 'no' } }),
  );
  const port = await freePort();
  const place = stack.use(
    await openWorkplace({
      redisYaml: `{ url: 'redis://${SHARED}:${redis.port}' }`,
      sandbox: { host: '0.0.0.0', port, publicUrl: `http://${SHARED}:${port}` },
      pace: 'settle: 2s, timeout: 1s, backoff: { initial: 50ms, max: 500ms }, probe: { initial: 100ms, max: 500ms }',
      faults: { faults: [{ kind: 'delay', by: '20ms..80ms' }] },
    }),
  );
  const daemons: Running[] = [];
  const all: Host[] = [];
  for (const nth of [1, 2, 3]) {
    const host = stack.use(await openHost(nth));
    all.push(host);
    const at = (file: string) => path.join(place.folder, `host-${nth}${file}`);
    const text = await readFile(place.config, 'utf8');
    const plain = text.replace(/authUrl: '([^']*)'/, "authUrl: '$1', plainHttp: true");
    await writeFile(at('.yaml'), plain.replace('data: data', `data: host-${nth}`));
    await writeFile(at('.sh'), `#!/bin/sh\nexec ip netns exec ${host.name} ${LAUNCHER} "$@"\n`);
    await chmod(at('.sh'), 0o755);
    const env = { ...credentials('STAGING'), PO_SYNC_ADMIN_PORT: '0' };
    const daemon = startProgram(['--config', at('.yaml'), 'start'], {
      cwd: place.folder,
      env,
      launcher: at('.sh'),
    });
    daemons.push(daemon);
    stack.defer(async () => {
      daemon.child.kill('SIGKILL');
      await daemon.ended;
    });
    const early = daemon.ended.then(({ err }) =>
      Promise.reject(new Error(`host ${nth} ended: ${err}`)),
    );
    await Promise.race([early, until('ready', () => daemon.out().includes('daemon ready'))]);
    early.catch(() => undefined);
  }
  const stored = () => countOf(place.events, 'stored');
  const dropped: DroppedFile[] = [];
  for (let nth = 0; nth < 6; nth += 1) await dropOrders(place, dropped, orders / 6);
  await until('a third of the work', () => stored() > orders / 3);
  const [cut, killed, slow] = daemons;
  slow?.child.kill('SIGSTOP');
  await all[0]?.cable('down');
  killed?.child.kill('SIGKILL');
  const began = performance.now();
  await using admin = connectAsAdmin(redis);
  const held = await ordersInHand(admin.redis, keysOf('staging').prefix);
  const [second = 0] = await admin.redis.time();
  setTimeout(() => slow?.child.kill('SIGCONT'), 3_000);
  const before = stored();
  await until('the work continues', () => stored() > before + 30);
  const pause = Math.round((performance.now() - began) / 100) / 10;
  await allReported(place, dropped);
  await all[0]?.cable('up');
  // It finds nothing left to do, and sends nothing again.
  await dropOrders(place, dropped, 30);
  await allReported(place, dropped);
  cut?.child.kill('SIGTERM');
  await cut?.ended;
  const rows = (await settledBatches(place.reports)).flatMap(({ results }) => results);
  const late = rows.filter(({ purchaseOrderNumber = '', at = '' }) => {
    return held.has(purchaseOrderNumber) && Date.parse(at) > (Number(second) + 60) * 1_000;
  });
  return { ...(await accountOf(place, dropped)), pause, held: held.size, late: late.length };
}

/** The orders of all jobs that a daemon has taken and not finished. */
async function ordersInHand(redis: Redis, prefix: string): Promise<Set<string>> {
  const ids = await redis.lrange(`${prefix}:orders:active`, 0, '-1');
  const jobs = await Promise.all(ids.map((id) => redis.hget(`${prefix}:orders:${id}`, 'data')));
  return new Set(
    jobs.flatMap((data) => (data === null ? [] : (JSON.parse(data).numbers as string[]))),
  );
}
