import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { faultFile } from '../../src/sandbox/faults/fault-file.ts';
import type { SandboxEvent } from '../../src/sandbox/sandbox-event.ts';
import { CLIENT_ID, CLIENT_SECRET, openSandbox } from '../support/open-sandbox.ts';
import { processesIn } from '../support/processes-in.ts';
import { settledBatches } from '../support/settled-batches.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const ORDERS = 60;

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
    async show(): Promise<Listed> {
      const list: Listed[] = JSON.parse(await run('jlist', '--silent'));
      const [first] = list;
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

test('pm2 sees the ready signal, a reload finishes the calls in flight, and a stop leaves nothing', async () => {
  await using folder = await makeTempFolder();
  const at = (...parts: string[]) => path.join(folder.path, ...parts);
  const events: SandboxEvent[] = [];
  const faults = faultFile.parse({ faults: [{ kind: 'delay', when: 'after', by: '300ms' }] });
  await using sandbox = await openSandbox({ faults, onEvent: (event) => events.push(event) });
  const stored = () => events.flatMap((event) => (event.type === 'stored' ? [event.order] : []));

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
  await using pm2 = openPm2(at('pm2'), {
    PO_SYNC_CONFIG: at('po-sync.yaml'),
    PO_SYNC_ADMIN_PORT: '0',
    PO_SYNC_STAGING_CLIENT_ID: CLIENT_ID,
    PO_SYNC_STAGING_CLIENT_SECRET: CLIENT_SECRET,
  });

  await pm2.run('start', path.join(root, 'ecosystem.config.cjs'));
  const first = await pm2.show();
  expect(first.pm2_env.status).toBe('online');
  const log = () => readFile(first.pm2_env.pm_out_log_path, 'utf8');
  expect(await log()).toContain('po-sync is ready');

  const rows = Array.from({ length: ORDERS }, (_, index) => `P-${index},A-1,${index + 1}`);
  await writeFile(at('inbox', '.orders.csv'), ['purchaseOrderNumber,articleCode,quantity', ...rows, ''].join('\n'));
  await rename(at('inbox', '.orders.csv'), at('inbox', 'orders.csv'));
  await until('the delivery is under way', () => stored().length >= 10);
  await pm2.run('reload', 'po-sync');
  const second = await pm2.show();
  expect(second).toMatchObject({ pm2_env: { status: 'online', restart_time: 1 } });
  expect(second.pid).not.toBe(first.pid);
  expect(stored().length).toBeLessThan(ORDERS);

  const [batch] = await until('the batch is finished', async () => {
    const batches = await settledBatches(at('reports'));
    return batches.length > 0 && batches;
  });
  expect(stored().sort()).toEqual(rows.map((row) => row.slice(0, row.indexOf(','))).sort());
  // Nothing was cut off: no order needed a second attempt.
  expect(batch?.results).toHaveLength(ORDERS);
  expect(batch?.results.filter(({ outcome, attempts }) => outcome !== 'accepted' || attempts !== '1')).toEqual([]);

  await pm2.run('delete', 'po-sync');
  expect(isAlive(second.pid)).toBe(false);
  expect(await processesIn(at('data', 'redis'))).toEqual([]);
  expect(await log()).toContain('private Redis stopped');
  // It was ended by the daemon as the last thing, never by pm2.
  expect(await log()).not.toContain('private Redis is gone');
});
