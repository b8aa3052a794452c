import { codeOf } from '../../core/errors.ts';
import type { ClaimedFile } from '../../order/batch.ts';
import type { CorrectionCounts } from '../../order/dead-letter.ts';
import type { Waits } from '../../order/file-wait.ts';
import type { NamedBatch } from '../../order/named-batch.ts';
import { countSettled, noOutcomes, OUTCOMES, type OutcomeCounts } from '../../order/outcome.ts';
import type { FileShape } from '../../order/record.ts';
import type { Redis } from '../../redis/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { type Fence, type Lease, takeLease } from '../../redis/lease.ts';
import { readScript, runScript } from '../../redis/script.ts';
import { type OpenDeadLetter, readOpenDeadLetters } from '../dead-letters.ts';
import type { StoredResult } from '../entry.ts';
import { createAftermath } from './aftermath.ts';
import {
  type BatchError,
  type ControlDeps,
  createBatchControl,
  type TurnedAway,
  type Unsettled,
} from './batch-control.ts';
import { placeNow, type SourceFolders } from './place-now.ts';

/** Milliseconds until the lease of a daemon that died expires. */
const LEASE = 10_000;

/** `reading` until every order is admitted, then `open` until the last is counted, then `done`. */
export type BatchState = 'reading' | 'open' | 'done';

/** A batch as Redis keeps it. Times are milliseconds. */
export type Batch = {
  batch: string;
  no: number;
  source: string;
  kind: ClaimedFile['kind'];
  name: string;
  path: string;
  state: BatchState;
  startedAt: number;
  lastAt: number;
  /** The person who submitted it at the admin port. */
  by?: string;
  /** It was entered in the form of one order. */
  isForm?: true;
  /** What the first pass found. */
  inspection?: {
    sha256: string;
    bytes: number;
    records: number;
    orders?: number;
    shape: FileShape;
    warnings: string[];
    /** The mapping that it has, of several. */
    mapping?: string;
    /** Records that the mapping leaves out. */
    skipped?: number;
    /** A fix file: the source whose mapping reads it, where it is not its own. */
    readAs?: string;
    isFixFile?: true;
    corrections?: CorrectionCounts;
  };
  /** SHA-256 of the content whose orders were admitted; absent before the first. */
  begunWith?: string;
  /** Orders that were admitted; absent while reading. */
  total?: number;
  /** A person released it without the rows that belong to no order. */
  withoutRows?: true;
  /** It waits for a person, and why. */
  held?: Waits;
  /** A person canceled what was not sent yet. */
  cancelled: boolean;
  cancelledBy?: { at: number; who: string };
  /** Why its file can no longer be read, although some of its orders were admitted. */
  unreadable?: BatchError;
  /** Why its file, of which no order was admitted, moves to `failed/`. */
  turnedAway?: TurnedAway;
  /** Why its file could not be read on, its report not be written or its file not be put away; it is tried again until it succeeds. */
  unsettled?: Unsettled;
  counts: OutcomeCounts;
  /** Dead letters that are open. */
  open: number;
  /** Where its file is since it was settled, also after its inbox was moved; absent for a copy of an export. */
  settledPath?: string;
  /** The batch of a later file of its name that could be read, where its own is unreadable. */
  replacedBy?: string;
};

/** A batch with the name of its file, as far as that is known. */
export async function namedBatch(
  batch: string,
  { find }: Pick<Batches, 'find'>,
): Promise<NamedBatch> {
  const file = (await find(batch))?.name;
  return { batch, ...(file !== undefined && { file }) };
}

export type Batches = ReturnType<typeof createBatches>;

/** `config`: of the installation, to find the files of inboxes that were moved. */
type BatchesDeps = ControlDeps & { owner: string; config?: SourceFolders };

/** The batches of one environment: who reads each, its progress, and the outcomes of its orders. */
export function createBatches(deps: BatchesDeps) {
  const { redis, keys, owner } = deps;

  /** A lease to read or settle a batch; undefined while somebody else has it. */
  function lease(batch: string): Promise<Lease | undefined> {
    return takeLease(redis, keys.lease(batch), owner, LEASE);
  }

  /** Runs a task with that lease; undefined while somebody else has it, also when they got it meanwhile. */
  async function withLease<T>(
    batch: string,
    task: (fence: Fence) => Promise<T>,
  ): Promise<T | undefined> {
    const held = await lease(batch);
    if (held === undefined) return undefined;
    try {
      return await task(held.fence);
    } catch (error) {
      if (codeOf(error) !== 'lease-lost') throw error;
      return undefined;
    } finally {
      await held.release();
    }
  }

  /** Whether some daemon reads or settles it now. */
  const isHeld = async (batch: string): Promise<boolean> =>
    (await redis.exists(keys.lease(batch))) === 1;

  const reads = createReads(deps);
  return {
    lease,
    withLease,
    isHeld,
    ...reads,
    ...createProgress(redis, keys, reads.find),
    ...createBatchControl(deps),
    ...createAftermath(redis, keys),
  };
}

function createReads({ redis, keys, config }: BatchesDeps) {
  const script = readScript(new URL('./under-way.lua', import.meta.url));
  const placed = (fields: Record<string, string>): Batch | undefined =>
    fields['batch'] === undefined ? undefined : placeNow(decode(fields), config);
  const find = async (batch: string) => placed(await redis.hgetall(keys.batch(batch)));

  /** Which orders are counted already: a test by ordinal. */
  async function counted(batch: string): Promise<(ordinal: number) => boolean> {
    const bits = await redis.getBuffer(keys.counted(batch));
    return (ordinal) => (((bits?.[ordinal >> 3] ?? 0) >> (7 - (ordinal & 7))) & 1) === 1;
  }

  /** Results of these ordinals that were kept, in the order asked. */
  async function results(
    batch: string,
    ordinals: readonly number[],
  ): Promise<(StoredResult | undefined)[]> {
    if (ordinals.length === 0) return [];
    const texts = await redis.hmget(keys.results(batch), ...ordinals.map(String));
    return texts.map((text) => (text === null ? undefined : (JSON.parse(text) as StoredResult)));
  }

  /** The open dead letter of each number; of a number that a file has twice, the first. */
  async function openLetters(numbers: readonly string[]): Promise<(OpenDeadLetter | undefined)[]> {
    if (numbers.length === 0) return [];
    const texts = await redis.hmget(keys.waiting, ...numbers.map(keys.keyOf));
    return texts.map((text) => readOpenDeadLetters(text ?? '')[0]);
  }

  /** How many results of a batch are kept. */
  const resultsKept = (batch: string): Promise<number> => redis.hlen(keys.results(batch));

  /** Batches whose last order is counted and whose report is not written yet. */
  const finished = (): Promise<string[]> => redis.smembers(keys.finished);

  /** Batches that are not done, oldest first; and of the same moment, the orders that are due and in doubt: how many, and the first `most`. */
  async function underWayWith(most: number): Promise<{ found: Batch[]; sets: unknown[] }> {
    const used = [keys.active, keys.due, keys.doubt];
    const reply = await runScript(redis, script, used, [keys.prefix, most]);
    const [all, ...sets] = reply as [string[][], ...unknown[]];
    const found = all.flatMap((flat) => placed(fieldsIn(flat)) ?? []);
    return { found: found.sort((a, b) => a.startedAt - b.startedAt), sets };
  }

  const underWay = async (): Promise<Batch[]> => (await underWayWith(0)).found;

  /** At most `most` names of batches, the newest first, beginning at `from`. */
  function names(from: number, most: number): Promise<string[]> {
    return redis.zrange(keys.batches, from, String(from + most - 1), 'REV');
  }

  /** The batch behind a short number; undefined for what is from the API's list. */
  async function nameOf(no: number): Promise<string | undefined> {
    return (await redis.hget(keys.batchNames, String(no))) ?? undefined;
  }

  return {
    find,
    counted,
    results,
    openLetters,
    resultsKept,
    finished,
    underWay,
    underWayWith,
    names,
    nameOf,
  };
}

function createProgress(
  redis: Redis,
  keys: Keys,
  find: (batch: string) => Promise<Batch | undefined>,
) {
  const beginScript = readScript(new URL('./begin.lua', import.meta.url));

  /** Makes the batch known, or finds it again after a crash. `at` is the claim; `claimedIn` its epoch, where known. */
  async function begin(file: ClaimedFile, at: number, claimedIn: string = ''): Promise<Batch> {
    const { batch, source, kind, name, path, origin } = file;
    const from = origin === undefined ? {} : { origin };
    const fields = {
      batch,
      source,
      kind,
      name,
      path,
      ...from,
      state: 'reading',
      startedAt: at,
      lastAt: at,
      claimedIn,
    };
    const used = [keys.batch(batch), keys.batchNames, keys.batches, keys.active, keys.changes];
    for (;;) {
      await runScript(redis, beginScript, used, [batch, at, ...Object.entries(fields).flat()]);
      const begun = await find(batch);
      // Redis may forget it in between.
      if (begun) return begun;
    }
  }

  /** A person submits its file, before it begins; or the values of the `form` of one order. */
  async function handedIn(batch: string, who: string, { form = false } = {}): Promise<void> {
    await redis.hset(keys.batch(batch), { by: who, form: form ? '1' : '0' });
  }

  /** The first pass read the file to its end. */
  async function inspected(
    batch: string,
    inspection: NonNullable<Batch['inspection']>,
  ): Promise<void> {
    const { isFixFile } = inspection;
    const fields = { inspection: JSON.stringify(inspection), ...(isFixFile && { isFixFile: '1' }) };
    await redis
      .multi()
      .hset(keys.batch(batch), fields)
      .hdel(keys.batch(batch), 'unsettled', 'turnedAway')
      .exec();
  }

  /** The first order is about to be admitted, from content with this SHA-256. */
  async function admitting(batch: string, sha256: string): Promise<void> {
    await redis.hset(keys.batch(batch), { begunWith: sha256 });
  }

  /** Its file is at `settledPath` now. */
  async function putAway(batch: string, settledPath: string): Promise<void> {
    await redis.hset(keys.batch(batch), { settledPath });
  }

  return { begin, handedIn, inspected, admitting, putAway };
}

/** How many orders a batch has, as admitted or, before that, as the first pass counted them; undefined while unknown. */
export function totalOrders({
  total,
  inspection,
}: Pick<Batch, 'total' | 'inspection'>): number | undefined {
  return total ?? inspection?.orders;
}

/** Whether every order of a batch that is not settled yet has its outcome. */
export function isFinished({ state, total, counts }: Batch): boolean {
  return state !== 'done' && total !== undefined && countSettled(counts) >= total;
}

/** A hash as a script returns it: names and values take turns. */
function fieldsIn(flat: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1] ?? '']] : [])),
  );
}

/** Fields that are stored as JSON. */
type Nested = Pick<
  Batch,
  'inspection' | 'held' | 'unreadable' | 'turnedAway' | 'unsettled' | 'cancelledBy'
>;

function decode(fields: Record<string, string>): Batch {
  const counts = noOutcomes();
  const { by, form, state, name = '' } = fields;
  const json = (key: keyof Nested): Nested =>
    fields[key] === undefined ? {} : { [key]: JSON.parse(fields[key]) };
  for (const outcome of OUTCOMES) counts[outcome] = Number(fields[`n:${outcome}`] ?? 0);
  return {
    batch: fields['batch'] ?? '',
    no: Number(fields['no']),
    source: fields['source'] ?? '',
    kind: fields['kind'] === 'export' || fields['kind'] === 'handed-in' ? fields['kind'] : 'inbox',
    name,
    path: fields['path'] ?? '',
    state: state === 'done' || state === 'open' ? state : 'reading',
    startedAt: Number(fields['startedAt']),
    lastAt: Number(fields['lastAt']),
    ...(by !== undefined && { by }),
    ...(form === '1' && { isForm: true }),
    ...json('inspection'),
    ...(fields['begunWith'] === undefined ? {} : { begunWith: fields['begunWith'] }),
    ...(fields['total'] === undefined ? {} : { total: Number(fields['total']) }),
    ...json('held'),
    ...(fields['withoutRows'] === undefined ? {} : { withoutRows: true }),
    ...json('unreadable'),
    ...json('turnedAway'),
    ...(state === 'done' ? {} : json('unsettled')),
    cancelled: fields['cancelled'] !== undefined,
    ...json('cancelledBy'),
    counts,
    open: Number(fields['open'] ?? 0),
    ...(fields['settledPath'] === undefined ? {} : { settledPath: fields['settledPath'] }),
    ...(fields['replacedBy'] === undefined ? {} : { replacedBy: fields['replacedBy'] }),
  };
}
