import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Loop, startLoop } from '../../core/backoff/loop.ts';
import { readModelTrouble } from '../../log/events/daemon.ts';
import { deadLettersInProgress } from '../../operate/dead-letters/dead-letters-in-progress.ts';
import type { OperatorContext } from '../../operate/operator-context.ts';
import { claimTimeOf } from '../../order/batch.ts';
import type { Closing, DeadLetter } from '../../order/dead-letter.ts';
import { type BatchRow, type BatchTable, createBatchTable } from './batch-table.ts';
import type { ReportToRead } from './read-program.ts';
import { openReadThread, type ReadThread } from './read-thread.ts';

type ModelContext = Omit<OperatorContext, 'operator'>;

/** What lists are read from: batches here, dead letters in the thread. */
export type Tables = { batches: BatchTable; letters: ReadThread };

export type ReadModel = ReturnType<typeof createReadModel>;

/** Milliseconds between two looks at the changes, and without a question until the tables are dropped. */
const PAUSE = 1_000;
const IDLE = 15 * 60_000;
/** Milliseconds that a question waits for the tables. */
const PATIENCE = 150;
/** Batches read together; between two groups orders are delivered. */
const GROUP = 250;
/** Changes read in one look; when there are more, the next look follows at once. */
const LOOK = 5_000;
/** A scan of dead letters in progress takes at most one part in so many of the time. */
const SHARE = 20;

/**
 * The batches and open dead letters of an environment, for lists that answer at once. Built on the first question from
 * Redis and reports, kept current by the stream of changes, and dropped when nobody asks. Never the truth: whoever acts
 * asks the ledger.
 */
export function createReadModel(context: ModelContext) {
  const { clock } = context;
  let current: Following | undefined;
  let askedAt = clock.monotonic();

  /** The tables as soon as they are complete; undefined while they are built. */
  async function tables(): Promise<Tables | undefined> {
    askedAt = clock.monotonic();
    if (current?.tables.letters.isDead) await drop();
    current ??= follow(context, () => clock.monotonic() - askedAt > IDLE, drop);
    const { isReady, ready } = current;
    if (!isReady()) await Promise.race([ready, clock.sleep(PATIENCE)]);
    return current?.isReady() ? current.tables : undefined;
  }

  async function drop(): Promise<void> {
    const old = current;
    current = undefined;
    await old?.[Symbol.asyncDispose]();
  }

  return {
    tables,
    /** Reports read and to be read, while the tables are built. */
    progress: () => current?.progress() ?? { read: 0, of: 0 },
    [Symbol.asyncDispose]: drop,
  };
}

type Following = AsyncDisposable & {
  tables: Tables;
  ready: Promise<void>;
  isReady(): boolean;
  progress(): { read: number; of: number };
};

/** Builds the tables and follows the changes until disposed. */
function follow(context: ModelContext, isIdle: () => boolean, onIdle: () => Promise<void>): Following {
  const { clock, log } = context;
  const tables: Tables = { batches: createBatchTable(), letters: openReadThread() };
  const ready = Promise.withResolvers<void>();
  const sync = createSync(context, tables);
  let isBuilt = false;

  async function tick(): Promise<void> {
    if (isIdle()) return void onIdle();
    if (context.store.redis.status !== 'ready') return;
    if (isBuilt && (await sync.catchUp())) return;
    isBuilt = false;
    await sync.build();
    isBuilt = true;
    ready.resolve();
  }

  const onTrouble = (error: Error) => readModelTrouble(log, { reason: error.message });
  const loop: Loop = startLoop(tick, { pause: PAUSE, clock, onTrouble });
  return {
    tables,
    ready: ready.promise,
    isReady: () => isBuilt,
    progress: sync.progress,
    async [Symbol.asyncDispose]() {
      await tables.letters[Symbol.asyncDispose]();
      // The idle loop itself asks for its end.
      void loop[Symbol.asyncDispose]();
    },
  };
}

/** Brings the tables up to Redis and the reports. */
function createSync(context: ModelContext, { batches: table, letters }: Tables) {
  const { config, store, batches } = context;
  const { redis, keys } = store;
  const reports = config.reports.path;
  const scan = createProgressScan(context, letters);
  let last = '';
  let progress = { read: 0, of: 0 };

  /** Reads everything, beginning with what changes from now on. */
  async function build(): Promise<void> {
    const [newest] = await redis.xrevrange(keys.changes, '+', '-', 'COUNT', 1);
    // An empty stream could not show that entries are missing.
    last = newest?.[0] ?? String(await redis.xadd(keys.changes, '*', 'batch', ''));
    const names = await redis.zrange(keys.batches, 0, '-1');
    const known = new Set(names);
    for (const name of table.names()) if (!known.has(name)) table.remove(name);
    const others = (await readdir(reports).catch(() => [])).filter(
      (name) => claimTimeOf(name) !== undefined && !known.has(name),
    );
    const withLetters: string[] = [];
    for (const group of inGroups(names)) {
      const rows = await Promise.all(group.map(readRow));
      for (const row of rows) if (row) table.put(row);
      withLetters.push(...rows.flatMap((row) => (row && row.state === 'done' && row.open > 0 ? [row.batch] : [])));
    }
    progress = { read: 0, of: withLetters.length + others.length };
    for (const group of inGroups(withLetters)) await loadReports(group);
    for (const group of inGroups(others)) {
      await letters.load(
        group.map((batch) => ({ folder: join(reports, batch), batch, closings: [] })),
        config.environment,
      );
    }
    await scan.run(table);
  }

  async function loadReports(names: readonly string[]): Promise<void> {
    const found = await Promise.all(
      names.map(async (batch): Promise<ReportToRead> => {
        const { source = '', file = '' } = table.find(batch) ?? {};
        return {
          folder: join(reports, batch),
          batch,
          closings: await batches.closings(batch),
          known: { source, file },
        };
      }),
    );
    await letters.load(found, config.environment);
    progress.read += names.length;
  }

  /** Applies what changed; false when changes were missed, so that everything is to be read again. */
  async function catchUp(): Promise<boolean> {
    const [first, ...entries] = await redis.xrange(keys.changes, last, '+', 'COUNT', LOOK);
    if (first?.[0] !== last) return false;
    last = entries.at(-1)?.[0] ?? last;
    const closings = new Map<string, Closing[]>();
    for (const [, [, batch = '', , closing]] of entries) {
      const list = closings.get(batch) ?? [];
      if (closing !== undefined) list.push(JSON.parse(closing) as Closing);
      closings.set(batch, list);
    }
    for (const [batch, list] of closings) if (batch !== '') await applyChange(batch, list);
    for (const { batch } of await batches.underWay()) await refreshRow(batch);
    await scan.runWhenDue(table);
    return entries.length < LOOK - 1 || catchUp();
  }

  async function applyChange(batch: string, closings: readonly Closing[]): Promise<void> {
    const before = table.find(batch);
    const now = await refreshRow(batch);
    if (now === undefined || (now.state === 'done' && now.open === 0)) return letters.remove(batch);
    if (now.state === 'done' && before?.state !== 'done') return loadReports([batch]);
    if (closings.length > 0) await letters.close(batch, closings);
  }

  async function refreshRow(batch: string): Promise<BatchRow | undefined> {
    const row = await readRow(batch);
    if (row === undefined) table.remove(batch);
    else table.put(row);
    return row;
  }

  async function readRow(name: string): Promise<BatchRow | undefined> {
    const found = await redis.hmget(keys.batch(name), ...FIELDS);
    const [batch, source, file, state, startedAt, open, total, held, unreadable] = found.map((one) => one ?? undefined);
    if (batch === undefined) return undefined;
    return {
      batch,
      source: source ?? '',
      file: file ?? '',
      state: state === 'done' ? 'done' : state === 'open' ? 'open' : 'reading',
      startedAt: Number(startedAt),
      open: Number(open ?? 0),
      ...(total === undefined ? {} : { total: Number(total) }),
      ...(held === undefined ? {} : { held: true }),
      ...(unreadable === undefined ? {} : { unreadable: true }),
    };
  }

  return { build, catchUp, progress: () => progress };
}

const FIELDS = ['batch', 'source', 'name', 'state', 'startedAt', 'open', 'total', 'held', 'unreadable'];

/** The dead letters of batches that have no report yet. */
function createProgressScan(context: ModelContext, letters: ReadThread) {
  let dueAt = 0;
  let before = new Map<string, number>();

  async function run(table: BatchTable): Promise<void> {
    const began = context.clock.monotonic();
    const found = new Map<string, { from: { batch: string; source: string; file: string }; letters: DeadLetter[] }>();
    for await (const letter of deadLettersInProgress(context)) {
      const { batch, source, file } = letter;
      const one = found.get(batch) ?? { from: { batch, source, file }, letters: [] };
      one.letters.push(letter);
      found.set(batch, one);
    }
    for (const { from, letters: some } of found.values()) await letters.put(from, some);
    for (const batch of before.keys()) {
      if (!found.has(batch) && table.find(batch)?.state !== 'done') await letters.remove(batch);
    }
    before = openInProgress(table);
    dueAt = clock() + (clock() - began) * SHARE;
  }

  const clock = () => context.clock.monotonic();

  /** Only when a batch in progress has more or fewer dead letters than before. */
  async function runWhenDue(table: BatchTable): Promise<void> {
    if (clock() < dueAt) return;
    const now = openInProgress(table);
    if ([...now].some(([batch, open]) => before.get(batch) !== open)) await run(table);
  }

  return { run, runWhenDue };
}

function openInProgress(table: BatchTable): Map<string, number> {
  const found = new Map<string, number>();
  for (const name of table.names()) {
    const row = table.find(name);
    if (row && row.state !== 'done' && row.open > 0) found.set(name, row.open);
  }
  return found;
}

function inGroups<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / GROUP) }, (_, i) => all.slice(i * GROUP, (i + 1) * GROUP));
}
