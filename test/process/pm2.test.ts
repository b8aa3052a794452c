import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { faultFile } from '../../src/sandbox/faults/fault-file.ts';
import type { SandboxEvent } from '../../src/sandbox/sandbox-options.ts';
import { freePort } from '../support/free-port.ts';
import { CLIENT_ID, CLIENT_SECRET, openSandbox } from '../support/open-sandbox.ts';
import { processesIn } from '../support/processes-in.ts';
import { type SettledBatch, settledBatches } from '../support/settled-batches.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const CONFIGURATION = path.join(root, 'ecosystem.config.cjs');

type Listed = { pid: number; pm2_env: { status: string; restart_time: number; pm_out_log_path: string } };

/** The real pm2 with a daemon of its own. */
function openPm2(home: string, env: Record<string, string>) {
  const run = async (...args: string[]) => {
    const options = { cwd: path.dirname(home), env: { ...process.env, ...env, PM2_HOME: home } };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [path.join(root, 'node_modules/pm2/bin/pm2'), ...args],
      options,
    );
    return stdout;
  };
  return {
    run,
    async list(): Promise<Listed[]> {
      return JSON.parse(await run('jlist', '--silent'));
    },
    /** The only one. */
    async show(): Promise<Listed> {
      const [first] = JSON.parse(await run('jlist', '--silent'));
      if (!first) throw new Error('pm2 runs nothing');
      return first;
    },
    [Symbol.asyncDispose]: () => run('kill').then(() => undefined),
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A folder to work in, a sandbox where every create takes 300 ms, and a pm2 that knows both. */
async function openPlace(env: Record<string, string> = {}) {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await makeTempFolder());
  const at = (...parts: string[]) => path.join(folder.path, ...parts);
  const events: SandboxEvent[] = [];
  const faults = faultFile.parse({ faults: [{ kind: 'delay', when: 'after', by: '300ms' }] });
  const sandbox = resources.use(await openSandbox({ faults, onEvent: (event) => events.push(event) }));
  await mkdir(at('inbox'));
  await writeFile(
    at('po-sync.yaml'),
    `environment: staging
data: data
environments:
  staging: { baseUrl: ${sandbox.baseUrl}, authUrl: ${sandbox.authUrl} }
sources: [{ name: inbox, type: inbox, path: inbox, stable: 250ms, poll: 500ms }]
reports: { path: reports }
`,
  );
  const variables = {
    PO_SYNC_CONFIG: at('po-sync.yaml'),
    PO_SYNC_ADMIN_PORT: '0',
    PO_SYNC_STAGING_CLIENT_ID: CLIENT_ID,
    PO_SYNC_STAGING_CLIENT_SECRET: CLIENT_SECRET,
  };
  const pm2 = resources.use(openPm2(at('pm2'), { ...variables, ...env }));
  const kept = resources.move();
  return {
    pm2,
    at,
    /** Numbers of the orders that the API has stored, as often as it did. */
    stored: () => events.flatMap((event) => (event.type === 'stored' ? [event.order] : [])),
    /** Drops a file of so many orders; gives their numbers. */
    async drop(name: string, orders: number): Promise<string[]> {
      const numbers = Array.from({ length: orders }, (_, index) => `P-${index}`);
      const rows = numbers.map((number, index) => `${number},A-1,${index + 1}`);
      await writeFile(at('inbox', `.${name}`), ['purchaseOrderNumber,articleCode,quantity', ...rows, ''].join('\n'));
      await rename(at('inbox', `.${name}`), at('inbox', name));
      return numbers;
    },
    settled(): Promise<SettledBatch> {
      return until('the batch is finished', async () => (await settledBatches(at('reports')))[0], 60_000);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

test('pm2 sees the ready signal, a reload finishes the calls in flight, and a stop leaves nothing', async () => {
  await using place = await openPlace();
  const { pm2, stored } = place;
  await pm2.run('start', CONFIGURATION);
  const first = await pm2.show();
  const log = () => readFile(first.pm2_env.pm_out_log_path, 'utf8');
  expect(first.pm2_env.status).toBe('online');
  expect(await log()).toContain('po-sync is ready');

  const numbers = await place.drop('orders.csv', 300);
  await until('the delivery is under way', () => stored().length >= 10);
  await pm2.run('reload', 'po-sync');
  const second = await pm2.show();
  expect(second).toMatchObject({ pm2_env: { status: 'online', restart_time: 1 } });
  expect(second.pid).not.toBe(first.pid);
  expect(stored().length).toBeLessThan(numbers.length);

  const { results } = await place.settled();
  expect(stored().sort()).toEqual(numbers.sort());
  // Nothing was cut off: no order needed a second attempt.
  expect(results).toHaveLength(numbers.length);
  expect(results.filter(({ outcome, attempts }) => outcome !== 'accepted' || attempts !== '1')).toEqual([]);

  await pm2.run('delete', 'po-sync');
  expect(isAlive(second.pid)).toBe(false);
  expect(await processesIn(place.at('data', 'redis'))).toEqual([]);
  expect(await log()).toContain('private Redis stopped');
  // It was ended by the daemon as the last thing, never by pm2.
  expect(await log()).not.toContain('private Redis is gone');
});

test('several instances share one Redis and one inbox, each with an admin port of its own', async () => {
  const port = await freePort(2);
  await using place = await openPlace({ PO_SYNC_INSTANCES: '2', PO_SYNC_ADMIN_PORT: String(port) });
  const { pm2, stored } = place;
  await pm2.run('start', CONFIGURATION);
  const both = await pm2.list();
  expect(both.map(({ pm2_env }) => pm2_env.status)).toEqual(['online', 'online']);
  expect(await processesIn(place.at('data', 'redis'))).toHaveLength(1);
  for (const own of [port, port + 1]) expect((await fetch(`http://127.0.0.1:${own}/readyz`)).status).toBe(200);

  const numbers = await place.drop('orders.csv', 60);
  const { report } = await place.settled();
  expect(report.counts.accepted).toBe(numbers.length);
  expect(stored().sort()).toEqual(numbers.sort());

  await pm2.run('delete', 'po-sync');
  expect(both.filter(({ pid }) => isAlive(pid))).toEqual([]);
  expect(await processesIn(place.at('data', 'redis'))).toEqual([]);
});

test('a daemon that cannot start is not started for ever', async () => {
  await using place = await openPlace({ PO_SYNC_STAGING_CLIENT_SECRET: 'wrong' });
  const { pm2 } = place;
  await pm2.run('start', CONFIGURATION).catch(() => undefined);
  const ended = await until(
    'pm2 gives up',
    async () => {
      const shown = await pm2.show();
      return shown.pm2_env.status === 'errored' && shown;
    },
    100_000,
  );
  expect(ended.pm2_env.restart_time).toBeLessThanOrEqual(10);
  expect(await processesIn(place.at('data', 'redis'))).toEqual([]);
});
