import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { countNeedingPerson } from '../../src/order/outcome.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { keysOf } from '../../src/redis/keys.ts';
import type { Report } from '../../src/report/report.ts';
import { faultFile } from '../../src/sandbox/faults/fault-file.ts';
import type { SandboxEvent, SandboxOptions } from '../../src/sandbox/sandbox-options.ts';
import { CLIENT_ID, CLIENT_SECRET, type OpenSandbox, openSandbox } from './open-sandbox.ts';
import { type Ended, type Running, startInside, startProgram } from './program.ts';
import { openDatabase } from './shared-redis.ts';
import { makeTempFolder } from './temp-folder.ts';
import { until } from './until.ts';

export type { Ended, Running } from './program.ts';

/** A folder with configuration, inbox and reports, and a reference API in this process. */
export type Workplace = AsyncDisposable & {
  folder: string;
  inbox: string;
  reports: string;
  config: string;
  api: OpenSandbox;
  events: SandboxEvent[];
  /** Puts a file into the inbox the way a careful sender does: complete, by rename. */
  drop(name: string, content: string | Buffer): Promise<void>;
  /** Starts `bin/po-sync` as a process, with the workplace's credentials. */
  spawn(args: readonly string[], env?: Record<string, string>): Running;
  /** Starts the same program within this process, which is much faster. */
  start(args: readonly string[], env?: Record<string, string>): Running;
  /** Runs it to its end. */
  run(args: readonly string[], env?: Record<string, string>): Promise<Ended>;
  /** What a command prints with `--json`. */
  json(...args: string[]): Promise<ReturnType<typeof JSON.parse>>;
  /** Every report there is, oldest first, and how many of its dead letters are open now. */
  reportsNow(): Promise<ReportNow[]>;
  /** A file of a report's folder. */
  read(report: Report, name: string): Promise<string>;
  /** Replaces the faults; needs a sandbox that records. */
  setFaults(faults: readonly object[]): Promise<void>;
  /** How often the API stored each number. */
  stored(): Map<string, number>;
};

/** A report with what the ledger knows since. */
export type ReportNow = Report & { open: number };

type WorkplaceOptions = {
  sandbox?: Partial<SandboxOptions>;
  faults?: unknown;
  /** More lines of the configuration, at its top level. */
  more?: string;
  /** Lines of `delivery:`. */
  delivery?: string;
  /** The one source, instead of an inbox. */
  source?: string;
  /** The pace of `delivery:`, instead of one that suits small tests. */
  pace?: string;
  environment?: string;
  /** More keys of the environment, such as `, protected: true`. */
  partner?: string;
  /** `trust` by default, as only tests of the proof wait for it. */
  list?: 'prove' | 'trust' | 'none';
  /** The address of a Redis, or `private`; a database of the shared one when absent. */
  redis?: string;
  /** `redis:` of the configuration as YAML, instead of `redis`. */
  redisYaml?: string;
  /** More variables of its processes. */
  env?: Record<string, string>;
  /** What `spawn` starts; `bin/po-sync` of this checkout when absent. */
  launcher?: string;
};

/** The timeout is longer than a busy machine stops a process, so no call is in doubt unless the API makes it so. */
const PACE =
  'settle: 1s, timeout: 5s, backoff: { initial: 50ms, max: 500ms }, probe: { initial: 200ms, max: 1s }';

/** Everything a daemon needs, at a quick pace. */
export async function openWorkplace(options: WorkplaceOptions = {}): Promise<Workplace> {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await makeTempFolder());
  const events: SandboxEvent[] = [];
  const faults = options.faults === undefined ? {} : { faults: faultFile.parse(options.faults) };
  const { environment = 'staging' } = options;
  const onEvent = (event: SandboxEvent) => void events.push(event);
  const api = stack.use(await openSandbox({ environment, onEvent, ...faults, ...options.sandbox }));
  const redis = options.redis ?? (options.redisYaml === undefined ? await openDatabase() : '');
  const [inbox, reports, config] = ['inbox', 'reports', 'po-sync.yaml'].map((name) =>
    path.join(folder, name),
  ) as [string, string, string];
  await mkdir(inbox);
  await writeFile(config, configOf(api, { ...options, redis }));
  const processes = new Set<Running>();
  const inside = new Set<Running>();
  let spawned = false;

  function spawn(args: readonly string[], env: Record<string, string> = {}): Running {
    spawned = true;
    return keep(processes, startProgram(args, placeOf(env)));
  }
  function start(args: readonly string[], env: Record<string, string> = {}): Running {
    return keep(inside, startInside(args, placeOf(env)));
  }
  const placeOf = (env: Record<string, string>) => ({
    cwd: folder,
    ...(options.launcher === undefined ? {} : { launcher: options.launcher }),
    env: {
      ...credentials(environment.toUpperCase()),
      PO_SYNC_CONFIG: config,
      PO_SYNC_ADMIN_PORT: '0',
      ...options.env,
      ...env,
    },
  });

  stack.defer(async () => {
    for (const { child } of processes) child.kill('SIGKILL');
    for (const { child } of inside) child.kill('SIGTERM');
    await Promise.all([...processes, ...inside].map(({ ended }) => ended));
    // A daemon that was killed leaves its private Redis behind; the next command stops it as its last user.
    if (redis === 'private' && spawned)
      await start(['start', '--once', '--max-wait', '100ms']).ended;
  });
  const kept = stack.move();
  return {
    folder,
    inbox,
    reports,
    config,
    api,
    events,
    spawn,
    start,
    run: (args, env) => start(args, env).ended,
    json: (...args) =>
      until(`an answer to ${args.join(' ')}`, async () => {
        const document = JSON.parse((await start(['--json', ...args]).ended).out);
        // A busy machine may keep Redis from answering a command in time.
        return document.error?.code !== 'redis-unreachable' && document;
      }),
    async drop(name, content) {
      await writeFile(path.join(folder, 'dropping'), content);
      await rename(path.join(folder, 'dropping'), path.join(inbox, name));
    },
    async reportsNow() {
      const names = await readdir(reports).catch((): string[] => []);
      // A batch that was just claimed has a folder before it has a report.
      const read = (name: string) =>
        readFile(path.join(reports, name, 'report.json'), 'utf8').catch(() => '');
      const texts = await Promise.all(names.map(read));
      const reportsFound = texts.flatMap((text) =>
        text === '' ? [] : [JSON.parse(text) as Report],
      );
      const open = await openIn(reportsFound, redis);
      return reportsFound
        .map((report, i) => ({ ...report, open: open[i] ?? 0 }))
        .sort((a, b) => a.startedAt.localeCompare(b.startedAt));
    },
    read: (report, name) => readFile(path.join(reports, report.batch, name), 'utf8'),
    setFaults: api.setFaults,
    stored() {
      const counts = new Map<string, number>();
      for (const event of events) {
        if (event.type === 'stored') counts.set(event.order, (counts.get(event.order) ?? 0) + 1);
      }
      return counts;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The open dead letters of each report; those that it names where Redis does not know its batch, or cannot be asked. */
async function openIn(reports: readonly Report[], url: string): Promise<number[]> {
  const counted = reports.map(({ counts }) => countNeedingPerson(counts));
  if (!url.startsWith('redis://') || reports.length === 0) return counted;
  const redis = await connectRedis(url).catch(() => undefined);
  if (redis === undefined) return counted;
  try {
    const { batch } = keysOf(reports[0]?.environment ?? '');
    const open = await Promise.all(reports.map((one) => redis.hget(batch(one.batch), 'open')));
    const known = await Promise.all(reports.map((one) => redis.exists(batch(one.batch))));
    return counted.map((count, i) => (known[i] ? Number(open[i] ?? 0) : count));
  } finally {
    redis.disconnect();
  }
}

function keep(all: Set<Running>, running: Running): Running {
  all.add(running);
  void running.ended.finally(() => all.delete(running));
  return running;
}

export function credentials(environment: string): Record<string, string> {
  return {
    [`PO_SYNC_${environment}_CLIENT_ID`]: CLIENT_ID,
    [`PO_SYNC_${environment}_CLIENT_SECRET`]: CLIENT_SECRET,
  };
}

const INBOX = '- { name: inbox, type: inbox, path: inbox, stable: 100ms, poll: 200ms }';

function configOf(
  { environment, baseUrl, authUrl }: OpenSandbox,
  options: WorkplaceOptions,
): string {
  const {
    more = '',
    partner = '',
    list = 'trust',
    delivery = '',
    pace = PACE,
    source = INBOX,
    redis,
    redisYaml = `{ url: '${redis}' }`,
  } = options;
  return `environment: ${environment}
data: data
${redis === 'private' ? '' : `redis: ${redisYaml}\n`}environments:
  ${environment}: { baseUrl: '${baseUrl}', authUrl: '${authUrl}', list: ${list}${partner} }
sources:
  ${source}
reports: { path: reports }
delivery: { ${pace}${delivery} }
admin: { port: 0 }
${more}`;
}

/** A CSV of one-item orders, numbered from `first`. */
export function csvOf(count: number, first = 1): string {
  const rows = Array.from(
    { length: count },
    (_, i) => `PO-${first + i},NEW,ART-${i % 7},${(i % 9) + 1}`,
  );
  return `purchaseOrderNumber,orderState,articleCode,quantity\n${rows.join('\n')}\n`;
}
