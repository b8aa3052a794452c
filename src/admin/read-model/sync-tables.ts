import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readModelTrouble } from '../../log/events/daemon.ts';
import type { OperatorContext } from '../../operate/operator-context.ts';
import { claimTimeOf } from '../../order/batch.ts';
import type { DeadLetter } from '../../order/dead-letter.ts';
import { noOutcomes, OUTCOMES } from '../../order/outcome.ts';
import { deadLettersInProgress } from '../../put-away/dead-letters-in-progress.ts';
import type { BatchRow, BatchTable } from './batch-table.ts';
import { type Change, createChangeReader } from './changes.ts';
import type { ReportToRead } from './read-program.ts';
import type { ReadThread } from './read-thread.ts';

export type ModelContext = Omit<OperatorContext, 'operator'>;

/** What lists are read from: batches here, dead letters in the thread. */
export type Tables = { batches: BatchTable; letters: ReadThread };

/** Batches read together; between two groups orders are delivered. */
const GROUP = 250;

/** Updates the tables from Redis and the reports. */
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
      const open = rows.filter((row) => row.state === 'done' && row.open > 0);
      withLetters.push(...open.map(({ batch }) => batch));
    }
    Object.assign(progress, { read: 0, of: withLetters.length + forgotten.length });
    for (const group of inGroups([...withLetters, ...forgotten])) await loadReports(group);
    await scan.run(table);
  }

  /** Applies what changed; false when changes were missed: then everything must be read again. */
  async function catchUp(): Promise<boolean> {
    const found = await stream.next();
    if (found === undefined) return false;
    for (const [batch, changed] of changedIn(found.changes)) await applyChange(batch, changed);
    for (const { batch } of await batches.underWay()) await refreshRow(batch);
    await scan.runWhenDue(table);
    return found.isAll || catchUp();
  }

  async function applyChange(batch: string, { closed, isWritten }: Changed): Promise<void> {
    const now = await refreshRow(batch);
    if (now === undefined || (now.state === 'done' && now.open === 0)) return letters.remove(batch);
    if (now.state === 'done' && isWritten) return loadReports([batch]);
    if (closed.length > 0) await letters.remove(batch, closed);
  }

  async function refreshRow(batch: string): Promise<BatchRow | undefined> {
    const row = await readRow(batch);
    if (row === undefined) table.remove(batch);
    else table.put(row);
    return row;
  }

  return { build, catchUp, progress: () => progress };
}

/** What changed in a batch. `isWritten`: more than closings; it may be done now, or its report was written again. */
type Changed = { closed: string[]; isWritten: boolean };

function changedIn(changes: readonly Change[]): Map<string, Changed> {
  const found = new Map<string, Changed>();
  for (const { batch, closed } of changes) {
    const one = found.get(batch) ?? { closed: [], isWritten: false };
    if (closed === undefined) one.isWritten = true;
    else one.closed.push(closed);
    found.set(batch, one);
  }
  return found;
}

/** Reads batches from Redis, and their reports in the thread. */
function createReading(
  { config, store, batches, log }: ModelContext,
  { batches: table, letters }: Tables,
) {
  const { redis, keys } = store;
  const progress = { read: 0, of: 0 };

  async function readRow(name: string): Promise<BatchRow | undefined> {
    const found = await redis.hmget(keys.batch(name), ...FIELDS);
    const [
      batch,
      source,
      file,
      state,
      startedAt,
      open,
      total,
      held,
      unsettled,
      unreadable,
      replacedBy,
      cancelled,
      ...counted
    ] = found.map((one) => one ?? undefined);
    if (batch === undefined) return undefined;
    const counts = noOutcomes();
    for (const [i, outcome] of OUTCOMES.entries()) counts[outcome] = Number(counted[i] ?? 0);
    const row: BatchRow = {
      batch,
      source: source ?? '',
      file: file ?? '',
      state: state === 'done' ? 'done' : state === 'open' ? 'open' : 'reading',
      startedAt: Number(startedAt),
      open: Number(open ?? 0),
      ...(total === undefined ? {} : { total: Number(total) }),
      ...(held === undefined ? {} : { held: true }),
      ...(unsettled === undefined || state === 'done' ? {} : { unsettled: true }),
      ...(unreadable === undefined ? {} : { unreadable: true }),
      ...((replacedBy ?? cancelled) === undefined ? {} : { isOver: true }),
      counts,
    };
    return row;
  }

  /** Of a batch that Redis forgot, the report says what is not known here. */
  async function reportOf(batch: string): Promise<ReportToRead> {
    const folder = join(config.reports.path, batch);
    const row = table.find(batch);
    if (row === undefined) return { folder, batch, closed: [] };
    const { source, file } = row;
    const closed = [...(await batches.closings(batch)).keys()];
    return { folder, batch, closed, known: { source, file } };
  }

  async function loadReports(names: readonly string[]): Promise<void> {
    const faults = await letters.load(await Promise.all(names.map(reportOf)), config.environment);
    for (const reason of faults) readModelTrouble(log, { reason });
    progress.read += names.length;
  }

  return { readRow, loadReports, progress };
}

const FIELDS = [
  'batch',
  'source',
  'name',
  'state',
  'startedAt',
  'open',
  'total',
  'held',
  'unsettled',
  'unreadable',
  'replacedBy',
  'cancelled',
].concat(OUTCOMES.map((outcome) => `n:${outcome}`));

function inGroups<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / GROUP) }, (_, i) =>
    all.slice(i * GROUP, (i + 1) * GROUP),
  );
}

/** A scan takes at most one part in so many of the time. */
const SHARE = 20;

/** The dead letters of batches that have no report yet. */
function createProgressScan(context: ModelContext, letters: ReadThread) {
  let dueAt = 0;
  let before = new Map<string, number>();

  async function run(table: BatchTable): Promise<void> {
    const began = context.clock.monotonic();
    const found = new Map<
      string,
      { from: { batch: string; source: string; file: string }; letters: DeadLetter[] }
    >();
    for await (const letter of deadLettersInProgress(context)) {
      const { batch, source, file } = letter;
      const one = found.get(batch) ?? { from: { batch, source, file }, letters: [] };
      one.letters.push(letter);
      found.set(batch, one);
    }
    const inFile = (one: DeadLetter, other: DeadLetter) => one.location.line - other.location.line;
    for (const { from, letters: some } of found.values())
      await letters.put(from, some.sort(inFile));
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
