import { canBeOfFile } from '../../order/batch.ts';
import type { FileWait, Waits } from '../../order/file-wait.ts';
import type { Redis } from '../../redis/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { readScript, runScript } from '../../redis/script.ts';
import { differs, type LedgerIdentity } from '../identity.ts';

/** What keeps a batch waiting, since when. */
export type Unsettled = { code: string; reason: string; since: number };

/** What made the file of a batch unreadable. */
export type BatchError = {
  code: string;
  message: string;
  remedy?: string;
  line?: number;
  column?: number;
};

/** An unreadable file of which no order was admitted: its error, and what it is. */
export type TurnedAway = { error: BatchError; bytes: number; sha256: string };

export type ControlDeps = {
  redis: Redis;
  keys: Keys;
  /** Of a daemon that reads files: the latest state of the ledger that it saw. */
  identity?: LedgerIdentity;
};

/** Why a batch is held, and what a release of it allows: a later hold for the same is none. */
export type Hold = { wait: FileWait; alike: string };

/** The last release by a person, and the refusals that were known at any of them. */
function releasedFrom(
  text: string | null | undefined,
): { at: number; who: string; alike: string[] } | undefined {
  return text == null
    ? undefined
    : (JSON.parse(text) as { at: number; who: string; alike: string[] });
}

const PAGE = 1000;

/** The names of all batches, newest first. */
export async function* allNames(batches: {
  names(from: number, most: number): Promise<string[]>;
}): AsyncGenerator<string> {
  for (let from = 0; ; from += PAGE) {
    const page = await batches.names(from, PAGE);
    yield* page;
    if (page.length < PAGE) return;
  }
}

/** Maximum number of batches of one file name that are looked at, the newest first. */
const MOST_OF_FILE = 50;

/** The batches of a file name, the newest first. */
export async function batchesOfFile<B extends { name: string }>(
  file: string,
  batches: Parameters<typeof allNames>[0] & { find(batch: string): Promise<B | undefined> },
): Promise<B[]> {
  const names: string[] = [];
  for await (const name of allNames(batches)) {
    if (canBeOfFile(name, file)) names.push(name);
    if (names.length === MOST_OF_FILE) break;
  }
  const found = await Promise.all(names.map(batches.find));
  return found.filter((batch) => batch?.name === file).filter((batch) => batch !== undefined);
}

/** The arguments of an entry in the stream of changes, which keeps about the last 20,000. */
export function changeOf(batch: string): ['MAXLEN', '~', number, '*', 'batch', string] {
  return ['MAXLEN', '~', 20_000, '*', 'batch', batch];
}

/** How long a decision holds for a file that is read again: longer than a file stays unfinished. Seconds. */
export const REMEMBERED = 90 * 86_400;

/** The field of a cancellation among what people decided of a batch. */
const CANCELLED = 'batch';

/** What stops a batch: the end of its file, a hold because of its answers, a person who cancels it. */
export function createBatchControl(deps: ControlDeps) {
  const { redis, keys } = deps;

  /** So that the batch is cancelled where its file is read again. */
  async function rememberCancelled(batch: string, by: { at: number; who: string }): Promise<void> {
    const key = keys.discards(batch);
    await redis.multi().hset(key, CANCELLED, JSON.stringify(by)).expire(key, REMEMBERED).exec();
  }

  /** No further order of the batch is admitted to be sent. */
  async function cancel(batch: string, by: { at: number; who: string }): Promise<void> {
    await redis
      .multi()
      .hset(keys.batch(batch), { cancelled: by.at, cancelledBy: JSON.stringify(by) })
      .xadd(keys.changes, ...changeOf(batch))
      .exec();
  }

  /** Nothing more of a batch is sent that ended, which Redis has forgotten. */
  async function sendNoMore(batch: string, at: number): Promise<void> {
    await redis.hset(keys.batch(batch), { cancelled: at });
  }

  /** Cancels a batch that is about to be read again if it was cancelled before Redis lost that. */
  async function recallCancellation(batch: string): Promise<void> {
    const by = await redis.hget(keys.discards(batch), CANCELLED);
    if (by === null || (await isCancelled(batch))) return;
    const { at } = JSON.parse(by) as { at: number };
    await redis.hset(keys.batch(batch), { cancelled: at, cancelledBy: by });
  }

  async function isCancelled(batch: string): Promise<boolean> {
    return (await redis.hexists(keys.batch(batch), 'cancelled')) === 1;
  }

  /** Its file could not be read on, its report not be written or its file not be put away. Keeps when that began. */
  async function notSettled(
    batch: string,
    { code, reason }: Omit<Unsettled, 'since'>,
    at: number,
  ): Promise<void> {
    const [state, text] = await redis.hmget(keys.batch(batch), 'state', 'unsettled');
    if (state == null || state === 'done') return;
    const known = text == null ? undefined : (JSON.parse(text) as Unsettled);
    if (known?.reason === reason) return;
    const found: Unsettled = { code, reason, since: known?.since ?? at };
    await redis
      .multi()
      .hset(keys.batch(batch), 'unsettled', JSON.stringify(found))
      .xadd(keys.changes, ...changeOf(batch))
      .exec();
  }

  /** Its file is about to move to `failed/`: from there, nobody reads it again, and its report can still be written. */
  async function turnAway(batch: string, found: TurnedAway): Promise<void> {
    await redis.hset(keys.batch(batch), 'turnedAway', JSON.stringify(found));
  }

  return {
    cancel,
    rememberCancelled,
    recallCancellation,
    turnAway,
    sendNoMore,
    isCancelled,
    notSettled,
    ...createHolds(deps),
    ...createReading(deps),
  };
}

/** How a batch is held because of its answers, and released. */
function createHolds({ redis, keys }: ControlDeps) {
  const holdScript = readScript(new URL('./hold.lua', import.meta.url));

  /**
   * Holds a batch: none of its orders is sent until it is released. `not`
   * when a person released it although they were known, and when it is done: orders of such a batch are sent only because
   * a person asks for it, and no list would show the hold.
   */
  async function hold(
    batch: string,
    { wait, alike }: Hold,
    since: number,
  ): Promise<'held' | 'before' | 'not'> {
    const key = keys.batch(batch);
    for (;;) {
      const [state, text] = await redis.hmget(key, 'state', 'released');
      const released = releasedFrom(text);
      if (state === 'done' || released?.alike.includes(alike)) return 'not';
      const again = released && { again: { at: released.at, who: released.who } };
      const held = JSON.stringify({ ...wait, ...again, since } satisfies Waits);
      const used = [key, keys.held, keys.changes];
      const done = await runScript(redis, holdScript, used, [batch, text ?? '', held, alike]);
      if (done !== -1) return done === 1 ? 'held' : 'before';
    }
  }

  /**
   * Releases a held batch; false when it was not held. Its orders are sent when the sweeper finds them, at the latest. A
   * person who releases it has decided on refusals like these: they do not hold it again.
   */
  async function release(
    batch: string,
    by?: { at: number; who: string },
    { withoutRows = false } = {},
  ): Promise<boolean> {
    const key = keys.batch(batch);
    const [heldFor, text] = await redis.hmget(key, 'heldFor', 'released');
    const step = redis
      .multi()
      .hdel(key, 'held')
      .srem(keys.held, batch)
      .xadd(keys.changes, ...changeOf(batch));
    if (by && heldFor != null) {
      const alike = new Set([...(releasedFrom(text)?.alike ?? []), heldFor]);
      step.hset(key, { released: JSON.stringify({ ...by, alike: [...alike] }) });
    }
    if (withoutRows) step.hset(key, { withoutRows: '1' });
    const [removed] = (await step.exec()) ?? [];
    return removed?.[1] === 1;
  }

  function held(): Promise<string[]> {
    return redis.smembers(keys.held);
  }

  return { hold, release, held };
}

/** How the reading of a file waits and ends. */
function createReading({ redis, keys, identity }: ControlDeps) {
  const script = readScript(new URL('./total.lua', import.meta.url));

  /** The epoch of the ledger in which a reader begins, as this daemon knows it. */
  function epoch(): string {
    return identity?.known().epoch ?? '';
  }

  /** Whether Redis lost something that this daemon has not noticed yet. */
  const isBehind = async (): Promise<boolean> =>
    identity !== undefined && differs({ redis, keys }, identity.known());

  /** Its file is back where it was missing. */
  async function readAgain(batch: string): Promise<void> {
    await redis
      .multi()
      .hdel(keys.batch(batch), 'unsettled')
      .xadd(keys.changes, ...changeOf(batch))
      .exec();
  }

  /**
   * Every order is admitted: from now on the batch can be finished. False, and the batch is as it was, when Redis forgot
   * something since the reader began in the epoch `since`: then the file is to be read again. `unreadable`: why the rest
   * of the file can no longer be read.
   */
  async function admitted(
    batch: string,
    total: number,
    since: string,
    unreadable?: BatchError,
  ): Promise<boolean> {
    const { daemon = '', made } = identity?.own?.() ?? {};
    const used = [keys.batch(batch), keys.finished, keys.identity, keys.own(daemon)];
    const asked = {
      batch,
      total,
      since,
      sequence: identity?.known().sequence ?? 0,
      made,
      unreadable: unreadable && JSON.stringify(unreadable),
    };
    return (await runScript(redis, script, used, [JSON.stringify(asked)])) !== -1;
  }

  return { epoch, isBehind, readAgain, admitted };
}
