import { execFile } from 'node:child_process';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { faultFile } from '../../src/sandbox/faults/fault-file.ts';
import type { SandboxEvent } from '../../src/sandbox/sandbox-options.ts';
import { CLIENT_ID, CLIENT_SECRET, openSandbox } from './open-sandbox.ts';
import { processesIn } from './processes-in.ts';
import { type SettledBatch, settledBatches } from './settled-batches.ts';
import { makeTempFolder } from './temp-folder.ts';
import { until } from './until.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const CONFIGURATION = path.join(root, 'ecosystem.config.cjs');

type Listed = {
  name: string;
  pid: number;
  pm2_env: { status: string; restart_time: number; pm_out_log_path: string };
};

/** The real pm2 with a separate daemon. */
function openPm2(home: string, env: Record<string, string>) {
  const runIn = async (other: Record<string, string>, ...args: string[]) => {
    const options = {
      cwd: path.dirname(home),
      env: { ...process.env, ...env, ...other, PM2_HOME: home },
    };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [path.join(root, 'node_modules/pm2/bin/pm2'), ...args],
      options,
    );
    return stdout;
  };
  const run = (...args: string[]) => runIn({}, ...args);
  return {
    run,
    /** With further variables, as a shell of a second daemon has them. */
    runIn,
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

/** Whether a process with this id runs. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A folder to work in, a sandbox where every create takes 300 ms, and a pm2 that knows both. */
export async function openPm2Place(env: Record<string, string> = {}, secret = CLIENT_SECRET) {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await makeTempFolder());
  const at = (...parts: string[]) => path.join(folder.path, ...parts);
  const events: SandboxEvent[] = [];
  const faults = faultFile.parse({ faults: [{ kind: 'delay', when: 'after', by: '300ms' }] });
  const sandbox = resources.use(
    await openSandbox({ faults, onEvent: (event) => events.push(event) }),
  );
  // pm2 can leave a daemon that it no longer knows, which then leaves its Redis when pm2 ends.
  resources.defer(async () => {
    for (const pid of await processesIn(at('data', 'redis'))) process.kill(pid);
  });
  await mkdir(at('inbox'));
  await writeFile(at('secret'), secret, { mode: 0o600 });
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
    PO_SYNC_STAGING_CLIENT_SECRET_FILE: at('secret'),
  };
  const pm2 = resources.use(openPm2(at('pm2'), { ...variables, ...env }));
  const kept = resources.move();
  return {
    pm2,
    at,
    /** Numbers of the orders that the API has stored, as often as it did. */
    stored: () => events.flatMap((event) => (event.type === 'stored' ? [event.order] : [])),
    /** Drops a file of so many orders; gives their numbers. */
    async drop(name: string, orders: number, inbox = 'inbox'): Promise<string[]> {
      const numbers = Array.from({ length: orders }, (_, index) => `P-${index}`);
      const rows = numbers.map((number, index) => `${number},A-1,${index + 1}`);
      await writeFile(
        at(inbox, `.${name}`),
        ['purchaseOrderNumber,articleCode,quantity', ...rows, ''].join('\n'),
      );
      await rename(at(inbox, `.${name}`), at(inbox, name));
      return numbers;
    },
    settled(): Promise<SettledBatch> {
      return until('the batch is finished', async () => (await settledBatches(at('reports')))[0]);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
