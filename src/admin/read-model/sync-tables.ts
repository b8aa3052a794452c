import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { deadLettersInProgress } from '../../operate/dead-letters/dead-letters-in-progress.ts';
import type { OperatorContext } from '../../operate/operator-context.ts';
import { claimTimeOf } from '../../order/batch.ts';
import type { Closing, DeadLetter } from '../../order/dead-letter.ts';
import type { BatchRow, BatchTable } from './batch-table.ts';
import { type Change, createChangeReader } from './changes.ts';
import type { ReportToRead } from './read-program.ts';
import type { ReadThread } from './read-thread.ts';

export type ModelContext = Omit<OperatorContext, 'operator'>;

/** What lists are read from: batches here, dead letters in the thread. */
export type Tables = { batches: BatchTable; letters: ReadThread };

/** Batches read together; between two groups orders are delivered. */
const GROUP = 250;
/** A scan of dead letters in progress takes at most one part in so many of the time. */
const SHARE = 20;

/** Brings the tables up to Redis and the reports. */
export function createSync(context: ModelContext, tables: Tables) {
  const { batches: table, letters } = tables;
  const { config, store, batches } = context;
  const { redis, keys } = store;
  const { readRow, loadReports, progress } = createReading(context, tables);
  const scan = createProgressScan(context, letters);
  const stream = createChangeReader(store);

  /** Reads everything, beginning with what changes from now on. */
  async function build(): Promise<void> {
    await stream.begin();
    const names = await redis.zrange(keys.batches, 0, '-1');
    const known = new Set(names);
    for (const name of table.names()) if (!known.has(name)) table.remove(name);
    const folders: string[] = await readdir(config.reports.path).catch(() => []);
    const forgotten = folders.filter((name) => claimTimeOf(name) !== undefined && !known.has(name));
    const withLetters: string[] = [];
    for (const group of inGroups(names)) {
      const rows = (await Promise.all(group.map(readRow))).filter((row) => row !== undefined);
      for (const row of rows) table.put(row);
      withLetters.push(...rows.filter(({ state, open }) => state === 'done' && open > 0).map(({ batch }) => batch));
    }
    Object.assign(progress, { read: 0, of: withLetters.length + forgotten.length });
    for (const group of inGroups([...withLetters, ...forgotten])) await loadReports(group);
    await scan.run(table);
  }

  /** Applies what changed; false when changes were missed, so that everything is to be read again. */
  async function catchUp(): Promise<boolean> {
    const found = await stream.next();
    if (found === undefined) return false;
    for (const [batch, closings] of closingsIn(found.changes)) await applyChange(batch, closings);
    for (const { batch } of await batches.underWay()) await refreshRow(batch);
    await scan.runWhenDue(table);
    return found.isAll || catchUp();
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

  return { build, catchUp, progress: () => progress };
}

/** The changed batches, each with the dead letters that were closed. */
function closingsIn(changes: readonly Change[]): Map<string, Closing[]> {
  const found = new Map<string, Closing[]>();
  for (const { batch, closing } of changes) {
    const list = found.get(batch) ?? [];
    if (closing !== undefined) list.push(closing);
    found.set(batch, list);
  }
  return found;
}

/** Reads batches from Redis, and their reports in the thread. */
function createReading({ config, store, batches }: ModelContext, { batches: table, letters }: Tables) {
  const { redis, keys } = store;
  const progress = { read: 0, of: 0 };

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

  /** Of a batch that Redis forgot, the report says what is not known here. */
  async function reportOf(batch: string): Promise<ReportToRead> {
    const folder = join(config.reports.path, batch);
    const row = table.find(batch);
    if (row === undefined) return { folder, batch, closings: [] };
    const { source, file } = row;
    return { folder, batch, closings: await batches.closings(batch), known: { source, file } };
  }

  async function loadReports(names: readonly string[]): Promise<void> {
    await letters.load(await Promise.all(names.map(reportOf)), config.environment);
    progress.read += names.length;
  }

  return { readRow, loadReports, progress };
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
