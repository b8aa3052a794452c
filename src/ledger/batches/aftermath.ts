import type { Closing, Closings } from '../../order/dead-letter.ts';
import { idOf } from '../../order/letter-id.ts';
import { OUTCOMES, type OutcomeCounts } from '../../order/outcome.ts';
import type { Redis } from '../../redis/connect.ts';
import { contentField, type Keys } from '../../redis/keys.ts';
import { type BatchError, changeOf } from './batch-control.ts';

/** When a settled file is checked for changes, in milliseconds after it was put away: programs that pause append soon. */
const CHECKS_AFTER = [5_000, 30_000, 5 * 60_000, 60 * 60_000];

/** How long it is known, in seconds, whose file is at a path. */
const PLACE_KNOWN = 86_400;

/** A check of a settled file, with its batch. */
export type FileCheck = { check: string; batch: string };

/** The checks of a file that was put away at `at`, as scores and members of a sorted set. */
function fileChecks(batch: string, at: number): (string | number)[] {
  return CHECKS_AFTER.flatMap((after, n) => [at + after, `${n}/${batch}`]);
}

/** The first batch of a source that read a content. `at`: when it began, in milliseconds. */
export type SameContent = { batch: string; name: string; at: number };

/** An order that corrects a dead letter. `isOver`: its batch is done, or unknown. */
export type Taker = { batch: string; number: string; isOver: boolean };

/** What follows a batch that is done: dead letters are closed, its file is checked, and it expires. */
export function createAftermath(redis: Redis, keys: Keys) {
  /** How dead letters of a batch were closed. */
  async function closings(batch: string): Promise<Closings> {
    const closed = Object.entries(await redis.hgetall(keys.closed(batch)));
    return new Map(closed.map(([at, text]) => [idOf(batch, at), JSON.parse(text) as Closing]));
  }

  /** The orders that correct dead letters of a batch, by the id of those. */
  async function taken(batch: string): Promise<ReadonlyMap<string, Taker>> {
    const all = Object.entries(await redis.hgetall(keys.taken(batch)));
    const takers = all.map(async ([at, text]): Promise<[string, Taker]> => {
      const space = text.indexOf(' ');
      const by = { batch: text.slice(0, space), number: text.slice(space + 1) };
      const state = await redis.hget(keys.batch(by.batch), 'state');
      return [idOf(batch, at), { ...by, isOver: state === null || state === 'done' }];
    });
    return new Map(await Promise.all(takers));
  }

  /** A later file could be read, so that an unreadable one needs nobody any more. */
  async function replaced(batch: string, by: string): Promise<void> {
    await redis
      .multi()
      .hset(keys.batch(batch), { replacedBy: by })
      .hdel(keys.unreadable, batch)
      .xadd(keys.changes, ...changeOf(batch))
      .exec();
  }

  /** Forgets a batch that is done and whose report expired. What it sent stays in the ledger. */
  async function forget(batch: string): Promise<void> {
    const [source, sha256] = await redis.hmget(keys.batch(batch), 'source', 'begunWith');
    const content = contentField(source ?? '', sha256 ?? '');
    if ((await redis.hget(keys.contents, content)) === batch)
      await redis.hdel(keys.contents, content);
    await redis
      .multi()
      .del(keys.batch(batch), keys.counted(batch), keys.results(batch), keys.closed(batch))
      .del(keys.taken(batch), keys.corrections(batch), keys.discards(batch))
      .zrem(keys.batches, batch)
      .hdel(keys.unreadable, batch)
      .xadd(keys.changes, ...changeOf(batch))
      .exec();
  }

  return {
    closings,
    taken,
    replaced,
    forget,
    ...createContents(redis, keys),
    ...createFileChecks(redis, keys),
  };
}

/** Which batch read a content first, until it is forgotten. */
function createContents(redis: Redis, keys: Keys) {
  /** The first batch of a source with this content, if it is known. */
  async function withContent(source: string, sha256: string): Promise<SameContent | undefined> {
    const batch = await redis.hget(keys.contents, contentField(source, sha256));
    if (batch === null) return undefined;
    const [name, at] = await redis.hmget(keys.batch(batch), 'name', 'startedAt');
    return name && at ? { batch, name, at: Number(at) } : undefined;
  }

  /** Returns and keeps which earlier batch of the source had the same content. Repeatable. */
  async function contentRead(
    batch: string,
    source: string,
    sha256: string,
  ): Promise<SameContent | undefined> {
    const field = contentField(source, sha256);
    if ((await redis.hsetnx(keys.contents, field, batch)) === 1) return undefined;
    const first = await withContent(source, sha256);
    if (first === undefined) await redis.hset(keys.contents, field, batch);
    if (first === undefined || first.batch === batch) return undefined;
    await redis.hset(keys.batch(batch), { repeats: JSON.stringify(first) });
    return first;
  }

  return { withContent, contentRead };
}

/** Settled files are checked for changes a few times. */
function createFileChecks(redis: Redis, keys: Keys) {
  /** The report is written and the file put away. `settled`: where and when; the file is checked for changes. */
  async function done(batch: string, settled?: { path: string; at: number }): Promise<void> {
    const step = redis
      .multi()
      .hset(keys.batch(batch), { state: 'done' })
      // Its last answers may have held it, although no order was left to wait.
      .hdel(keys.batch(batch), 'held', 'unsettled')
      .srem(keys.held, batch)
      .del(keys.counted(batch))
      .srem(keys.finished, batch)
      .srem(keys.active, batch)
      .xadd(keys.changes, ...changeOf(batch));
    if (settled !== undefined) {
      step.zadd(keys.fileChecks, ...fileChecks(batch, settled.at));
      step.set(keys.settledAt(settled.path), batch, 'EX', PLACE_KNOWN);
    }
    await step.exec();
  }

  /** It ended before Redis lost that; its report has the counts. */
  async function ended(
    batch: string,
    { orders, ...counts }: OutcomeCounts & { orders: number },
  ): Promise<void> {
    const outcomes = OUTCOMES.flatMap((outcome) => [`n:${outcome}`, counts[outcome]]);
    await redis.hset(keys.batch(batch), 'total', orders, 'counted', orders, ...outcomes);
    await done(batch);
  }

  /** At most `most` checks of settled files that are due, those that waited longest first. */
  async function dueFileChecks(now: number, most: number): Promise<FileCheck[]> {
    const checks = await redis.zrangebyscore(keys.fileChecks, '-inf', now, 'LIMIT', 0, most);
    return checks.map((check) => ({ check, batch: check.slice(check.indexOf('/') + 1) }));
  }

  /** A check is done. `again`: when it is repeated because it could not be done. */
  async function fileChecked(check: string, again?: number): Promise<void> {
    if (again === undefined) await redis.zrem(keys.fileChecks, check);
    else await redis.zadd(keys.fileChecks, 'XX', again, check);
  }

  /** Whether no file of another batch was put away at the same path since: somebody removed the file of this one. */
  async function isLastAt(path: string, batch: string): Promise<boolean> {
    return ((await redis.get(keys.settledAt(path))) ?? batch) === batch;
  }

  /**
   * The settled file of a batch is not what was read. Call it with the lease of the
   * batch. False when that was known already. `file`: as in `keys.unreadable`.
   */
  async function settledFileChanged(
    batch: string,
    file: string,
    error: BatchError,
  ): Promise<boolean> {
    if ((await redis.hexists(keys.batch(batch), 'unreadable')) === 1) return false;
    await redis
      .multi()
      .hset(keys.batch(batch), { unreadable: JSON.stringify(error) })
      .hset(keys.unreadable, batch, file)
      .zrem(keys.fileChecks, ...CHECKS_AFTER.map((_, n) => `${n}/${batch}`))
      .xadd(keys.changes, ...changeOf(batch))
      .exec();
    return true;
  }

  return { done, ended, dueFileChecks, fileChecked, isLastAt, settledFileChanged };
}
