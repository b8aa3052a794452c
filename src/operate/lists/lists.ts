import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { toError } from '../../core/errors.ts';
import { readModelTrouble } from '../../log/events/daemon.ts';
import { claimTimeOf } from '../../order/batch.ts';
import { countNeedingPerson } from '../../order/outcome.ts';
import { deadLettersInProgress } from '../../put-away/dead-letters-in-progress.ts';
import { readFinished } from '../../report/report.ts';
import { isOpen, standingOf } from '../batches/list-batches.ts';
import type { OperatorContext } from '../operator-context.ts';
import { type Change, createChangeReader } from './changes.ts';
import { createListTables, type ListTables } from './list-tables.ts';
import { lettersIn } from './read-reports.ts';

type ModelContext = Omit<OperatorContext, 'operator'>;

/** Milliseconds that a query waits for tables that are built. */
const PATIENCE = 1_000;
/** Batches read together; between two groups orders are delivered. */
const GROUP = 250;

/**
 * The batches and dead letters of an environment, for lists that answer at once. Built on the first query from Redis
 * and reports, and brought up to date by the stream of changes with each later one. Not authoritative: actions ask the
 * ledger.
 */
export function createLists(context: ModelContext) {
  const tables = createListTables();
  const sync = createSync(context, tables);
  let isBuilt = false;
  let running: Promise<void> | undefined;

  async function round(): Promise<void> {
    try {
      if (isBuilt && (await sync.catchUp())) return;
      isBuilt = false;
      await sync.build();
      isBuilt = true;
    } catch (error) {
      // Changes that were read may not be applied.
      isBuilt = false;
      readModelTrouble(context.log, { reason: toError(error).message });
      throw error;
    }
  }

  async function current(): Promise<void> {
    // A round that runs may have begun before a change.
    await running?.catch(() => undefined);
    running ??= round().finally(() => {
      running = undefined;
    });
    await running;
  }

  return {
    /** The tables with everything that changed before this call; undefined while they are built. */
    async tables(): Promise<ListTables | undefined> {
      await (isBuilt ? current() : Promise.race([current(), context.clock.sleep(PATIENCE)]));
      return isBuilt ? tables : undefined;
    },
    async [Symbol.asyncDispose]() {
      await running?.catch(() => undefined);
      tables[Symbol.dispose]();
    },
  };
}

/** Updates the tables from Redis and the reports. */
function createSync(context: ModelContext, tables: ListTables) {
  const { config, store, batches } = context;
  const { redis, keys } = store;
  const stream = createChangeReader(store);
  const { loadReport, loadForgotten } = createLoading(context, tables);
  let scan = createProgressScan(context, tables);

  /** Reads everything, beginning with what changes from now on. */
  async function build(): Promise<void> {
    await stream.begin();
    tables.clear();
    scan = createProgressScan(context, tables);
    const names = await redis.zrange(keys.batches, 0, '-1');
    for (let from = 0; from < names.length; from += GROUP)
      await Promise.all(names.slice(from, from + GROUP).map(refresh));
    const known = new Set(names);
    const folders: string[] = await readdir(config.reports.path).catch(() => []);
    for (const name of tables.withLetters('done').keys()) await loadReport(name);
    for (const name of folders)
      if (claimTimeOf(name) !== undefined && !known.has(name)) await loadForgotten(name);
    await scan();
  }

  /** Applies what changed; false when changes were missed: then everything must be read again. */
  async function catchUp(): Promise<boolean> {
    const found = await stream.next();
    if (found === undefined) return false;
    for (const [batch, changes] of Map.groupBy(found.changes, ({ batch }) => batch))
      await apply(batch, changes);
    for (const { batch } of await batches.underWay()) await refresh(batch);
    await scan();
    return found.isAll || catchUp();
  }

  async function apply(batch: string, changes: readonly Change[]): Promise<void> {
    const now = await refresh(batch);
    if (now === undefined || (now.state === 'done' && now.open === 0)) return tables.remove(batch);
    // More than closings: it may be done now.
    if (changes.some(({ closed }) => closed === undefined))
      return now.state === 'done' ? loadReport(batch) : undefined;
    tables.remove(
      batch,
      changes.flatMap(({ closed }) => closed ?? []),
    );
  }

  async function refresh(name: string) {
    const batch = await batches.find(name);
    if (batch === undefined) tables.removeBatch(name);
    else {
      const { source, name: file, open: letters } = batch;
      const state = standingOf(batch);
      tables.putBatch({ batch: name, source, file, state, open: isOpen(batch), letters });
    }
    return batch;
  }

  return { build, catchUp };
}

/** Reads the open dead letters of reports. The others do not wait for a report that somebody damaged. */
function createLoading({ config, batches, log }: ModelContext, tables: ListTables) {
  async function load(batch: string, source: string, file: string): Promise<void> {
    const closed = await batches.closings(batch);
    tables.remove(batch);
    try {
      for await (const letter of lettersIn(join(config.reports.path, batch)))
        if (!letter.closed && !closed.has(letter.id)) tables.add({ batch, source, file }, letter);
    } catch (thrown) {
      const reason = `The dead letters of ${batch} cannot be read: ${toError(thrown).message}`;
      readModelTrouble(log, { reason });
    }
  }

  async function loadReport(name: string): Promise<void> {
    const batch = await batches.find(name);
    if (batch?.state === 'done') await load(name, batch.source, batch.name);
  }

  /** The report of a batch that Redis no longer knows, if it has dead letters. */
  async function loadForgotten(name: string): Promise<void> {
    const { path } = config.reports;
    const report = await readFinished(path, name, config.environment).catch(() => undefined);
    if (report && countNeedingPerson(report.counts) > 0)
      await load(name, report.source, report.file);
  }

  return { loadReport, loadForgotten };
}

/** A scan takes at most one part in so many of the time. */
const SHARE = 20;

/** Reads the dead letters of batches that have no report yet, when there are more or fewer than before. */
function createProgressScan(context: ModelContext, tables: ListTables): () => Promise<void> {
  const clock = () => context.clock.monotonic();
  let dueAt = 0;
  let before = new Map<string, number>();

  return async () => {
    const began = clock();
    const now = tables.withLetters('in progress');
    if (began < dueAt || [...now].every(([batch, open]) => before.get(batch) === open)) return;
    for (const batch of now.keys()) tables.remove(batch);
    for await (const letter of deadLettersInProgress(context))
      if (now.has(letter.batch)) tables.add(letter, letter);
    before = now;
    dueAt = clock() + (clock() - began) * SHARE;
  };
}
