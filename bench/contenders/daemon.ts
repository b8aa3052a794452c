import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CONCURRENCY } from './contender.ts';

const LAUNCHER = path.resolve(import.meta.dirname, '../../bin/po-sync');

/** How long a file must stay unchanged: short for throughput, the default where waits are measured. */
export type Stable = '100ms' | '2s';

/** A folder with everything a daemon needs. */
export type Place = {
  folder: string;
  inbox: string;
  reports: string;
  data: string;
  config: string;
  /** The program that runs here: this checkout's, or that of the checkout it is compared with. */
  launcher: string;
};

/** A daemon as users start it, with its log in a file as under a supervisor. */
export type Daemon = AsyncDisposable & {
  pid: number;
};

export async function makePlace(
  folder: string,
  origin: string,
  stable: Stable,
  launcher = LAUNCHER,
): Promise<Place> {
  const at = (name: string) => path.join(folder, name);
  const place = {
    folder,
    inbox: at('inbox'),
    reports: at('reports'),
    data: at('data'),
    config: at('po-sync.yaml'),
    launcher,
  };
  await mkdir(place.inbox, { recursive: true });
  await writeFile(place.config, configOf(origin, stable));
  return place;
}

/** Resolves when the daemon is ready; throws with the end of its log if it exits first. */
export async function startDaemon(
  { folder, config, launcher }: Place,
  ...more: string[]
): Promise<Daemon> {
  await using log = await open(path.join(folder, 'daemon.log'), 'a');
  const child = spawn(launcher, ['--config', config, 'start', ...more], {
    cwd: folder,
    env: environment(),
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
  });
  const ended = once(child, 'exit');
  await Promise.race([once(child, 'message'), ended.then(() => failed(folder))]);
  return { pid: pidOf(child), [Symbol.asyncDispose]: () => stop(child, ended) };
}

async function failed(folder: string): Promise<never> {
  const text = await readFile(path.join(folder, 'daemon.log'), 'utf8');
  throw new Error(`the daemon ended: ${text.slice(-2_000)}`);
}

/** Runs a command of po-sync until it exits. */
export async function runPoSync(
  { folder, config, launcher }: Place,
  args: readonly string[],
): Promise<string> {
  const child = spawn(launcher, ['--config', config, ...args], {
    cwd: folder,
    env: environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (bytes) => {
    out += String(bytes);
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`po-sync ${args.join(' ')} ended with ${code}: ${out}`);
  return out;
}

/** `BENCH_NODE_OPTIONS` applies to the daemon only, so that it can be profiled. */
function environment(): Record<string, string> {
  const { PATH = '', BENCH_NODE_OPTIONS: NODE_OPTIONS = '' } = process.env;
  return {
    PATH,
    NODE_OPTIONS,
    PO_SYNC_STAGING_CLIENT_ID: 'bench',
    PO_SYNC_STAGING_CLIENT_SECRET: 'bench',
  };
}

async function stop(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 20_000);
  await ended;
  clearTimeout(late);
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('the daemon did not start');
  return pid;
}

function configOf(origin: string, stable: Stable): string {
  return `environment: staging
data: data
environments:
  staging: { baseUrl: '${origin}/api/v1', authUrl: '${origin}' }
sources:
  - { name: inbox, type: inbox, path: inbox, stable: ${stable} }
reports: { path: reports }
delivery: { concurrency: ${CONCURRENCY} }
admin: { port: 0 }
`;
}
