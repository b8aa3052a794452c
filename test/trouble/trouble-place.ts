import { access, mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { OddApi } from '../support/odd-api.ts';
import { type Running, startInside, startProgram } from '../support/program.ts';
import { settledBatches } from '../support/settled-batches.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { startTestRedis, type TestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { judge, lostIn, type Status } from './trouble-row.ts';

/** The timeout is longer than a busy machine stops a process, so no call is in doubt unless the API makes it so. */
const PACE =
  'settle: 1s, timeout: 5s, backoff: { initial: 100ms, max: 1s }, probe: { initial: 250ms, max: 2s }';

export type TroubleOptions = {
  /** More lines of the environment, e.g. `rateLimit: { max: 5, per: 1s }`. Without `list:`, the list is trusted: the trouble is elsewhere. */
  environment?: string;
  pace?: string;
  /** Sources instead of the one inbox, as YAML lines. */
  sources?: string;
  redis?: string;
  baseUrl?: string;
  /** Another connection to the API. */
  url?: string;
  env?: Record<string, string>;
  /** The daemon is a separate process, which a test can kill and freeze; as it is with an `env`, or several daemons. */
  asProcess?: true;
  /** Calls that are on their way when the trouble begins, where they are many. */
  onTheirWay?: number;
  /** Of the daemon: it serves one side only. */
  role?: 'delivery';
  /** 1 where absent; `daemon` is the first of them. */
  daemons?: number;
  /** At the end some orders wait for something that status names. */
  mustWait?: boolean;
};

export type Outcomes = Record<string, string>;

/** A daemon with its own Redis in front of an odd API, at a quick pace. */
export type TroublePlace = AsyncDisposable & {
  folder: string;
  redis: TestRedis | undefined;
  daemon: Running;
  /** Puts a complete file into the inbox. */
  drop(name: string, content: string | Buffer): Promise<void>;
  /** Runs another command as a process and gives what it printed. */
  run(...args: string[]): Promise<{ code: number | null; out: string; err: string }>;
  status(): Promise<Status>;
  /** Order number → outcome, of all finished batches; a later batch wins. */
  outcomes(): Promise<Outcomes>;
  /** The outcome of an order in one file's batch. */
  outcomeIn(file: string, number: string): Promise<string | undefined>;
  /** The code of its result there. */
  codeIn(file: string, number: string): Promise<string | undefined>;
  /** Resolves when every batch has ended and these orders have an outcome. */
  settled(numbers: readonly string[]): Promise<Outcomes>;
  restart(): Promise<void>;
};

/** Disposing throws where a rule for all odd APIs is broken; the table of none is judged by its test. */
export async function openTroublePlace(
  api: OddApi | { url: string },
  options: TroubleOptions = {},
): Promise<TroublePlace> {
  const { onTheirWay = 0, mustWait = false } = options;
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await makeTempFolder());
  const redis = options.redis === undefined ? stack.use(await startTestRedis()) : undefined;
  await mkdir(path.join(folder, 'inbox'));
  const config = path.join(folder, 'po-sync.yaml');
  await writeFile(
    config,
    configOf(options.url ?? api.url, options.redis ?? redis?.url ?? '', options),
  );
  const env = {
    PO_SYNC_STAGING_CLIENT_ID: 'client',
    PO_SYNC_STAGING_CLIENT_SECRET: 'client-secret-of-the-test',
    PO_SYNC_ADMIN_PORT: '0',
    ...options.env,
  };
  const isAlone = options.asProcess || options.env !== undefined || options.daemons !== undefined;
  const startAs = (starter: typeof startProgram, args: readonly string[]) =>
    starter(['--config', config, ...args], { cwd: folder, env });
  const start = (args: readonly string[]) => startAs(isAlone ? startProgram : startInside, args);
  // A process for each look would take most of the processor; one with its own variables needs them.
  const run = (...args: string[]) =>
    startAs(options.env === undefined ? startInside : startProgram, args).ended;
  const startDaemon = () =>
    start(['start', ...(options.role === undefined ? [] : ['--role', options.role])]);
  let daemon = startDaemon();
  const others = Array.from({ length: (options.daemons ?? 1) - 1 }, () => start(['start']));
  const ended = async () => {
    daemon.child.kill(isAlone ? 'SIGKILL' : 'SIGTERM');
    await daemon.ended;
  };
  stack.defer(ended);
  for (const other of others) {
    stack.defer(async () => {
      other.child.kill('SIGKILL');
      await other.ended;
    });
  }
  const reports = path.join(folder, 'reports');

  async function outcomes(): Promise<Outcomes> {
    const all = await settledBatches(reports);
    return Object.fromEntries(
      all.flatMap(({ results }) =>
        results.map((row) => [row['purchaseOrderNumber'] ?? '', row['outcome'] ?? '']),
      ),
    );
  }

  async function resultIn(
    file: string,
    number: string,
  ): Promise<Record<string, string> | undefined> {
    const all = await settledBatches(reports);
    const rows = all.filter(({ report }) => report.file === file).flatMap(({ results }) => results);
    return rows.findLast((row) => row['purchaseOrderNumber'] === number);
  }

  const dropped = new Set<string>();

  async function status(): Promise<Status> {
    const { out } = await run('status', '--json');
    return JSON.parse(out) as Status;
  }

  async function judgeAll(): Promise<void> {
    if (!('calls' in api)) return;
    // The report of a batch is written after the ledger has finished it.
    const seen = await until('an outcome of each order that does not wait', async () => {
      const now = { dropped, status: await status(), outcomes: await outcomes() };
      // On a busy machine, its file may still be read.
      const isTooEarly = mustWait && now.status.waits.length === 0;
      return !isTooEarly && lostIn(now) === 0 && now;
    });
    judge({ ...seen, api, onTheirWay, mustWait });
  }

  const kept = stack.move();
  return {
    folder,
    redis,
    get daemon() {
      return daemon;
    },
    async drop(name, content) {
      const lines = typeof content === 'string' ? content.split('\n').slice(1) : [];
      for (const line of lines) if (line !== '') dropped.add(line.split(',')[0] ?? '');
      await writeFile(path.join(folder, 'dropping'), content);
      await rename(path.join(folder, 'dropping'), path.join(folder, 'inbox', name));
    },
    run,
    status,
    outcomes,
    outcomeIn: async (file, number) => (await resultIn(file, number))?.['outcome'],
    codeIn: async (file, number) => (await resultIn(file, number))?.['code'],
    async settled(numbers) {
      await until(`an outcome of ${numbers.length} orders`, async () => {
        const now = await outcomes();
        return numbers.every((number) => number in now) && (await noneRunning(reports));
      });
      return outcomes();
    },
    async restart() {
      await ended();
      daemon = startDaemon();
    },
    async [Symbol.asyncDispose]() {
      await using _ = kept;
      await judgeAll();
    },
  };
}

async function noneRunning(reports: string): Promise<boolean> {
  const names = await readdir(reports).catch((): string[] => []);
  const batches = names.filter((name) => name !== 'open' && !name.startsWith('.'));
  const written = await Promise.all(
    batches.map((name) =>
      access(path.join(reports, name, 'report.json')).then(
        () => true,
        () => false,
      ),
    ),
  );
  return written.every(Boolean);
}

function configOf(
  url: string,
  redis: string,
  { environment = '', pace = PACE, sources, baseUrl }: TroubleOptions,
): string {
  return `environment: staging
data: data
redis: { url: '${redis}' }
environments:
  staging:
    baseUrl: '${baseUrl ?? `${url}/api/v1`}'
    authUrl: '${url}'
${environment.includes('list:') ? '' : '    list: trust\n'}${environment === '' ? '' : `    ${environment}\n`}sources:
${sources ?? '  - { name: inbox, type: inbox, path: inbox, stable: 100ms, poll: 200ms }'}
reports: { path: reports }
delivery: { ${pace} }
admin: { port: 0 }
`;
}

/** A CSV of one-item orders with these numbers. */
export function csv(numbers: readonly string[], quantity = 1): string {
  return `purchaseOrderNumber,articleCode,quantity\n${numbers.map((number) => `${number},ART-1,${quantity}\n`).join('')}`;
}

export function numbered(count: number, prefix = 'PO'): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}-${i + 1}`);
}

/** How often the API holds the number. */
export function times(api: OddApi, number: string): number {
  return api.stored.filter(
    (order) => order.purchaseOrderNumber.toLowerCase() === number.toLowerCase(),
  ).length;
}

/** How often the API was asked to create the order. */
export function createsOf(api: OddApi, number: string): number {
  return api.calls.filter((call) => call.endpoint === 'create' && call.order === number).length;
}
