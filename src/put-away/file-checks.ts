import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, toError } from '../core/errors.ts';
import { iso } from '../core/format.ts';
import { isGone } from '../core/regular-file.ts';
import { environmentOf } from '../intake/environment-marker.ts';
import type { FileCheck } from '../ledger/batches/aftermath.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import { batchTrouble, fileChanged } from '../log/events/batch.ts';
import { fileRemoved } from '../order/dead-letter.ts';
import { countNeedingPerson } from '../order/outcome.ts';
import { openDay } from '../report/beside.ts';
import { changedAfterRead } from './changed-file.ts';
import { fileOf, type SettlementContext } from './put-batch-away.ts';

/** Checks of settled files in one round. */
const MOST_CHECKS = 200;
/** Milliseconds until a check that failed is repeated. */
const CHECK_AGAIN = 60_000;
/** Milliseconds since the last outcome of the batch after which a check that still fails is not repeated. */
const LONGEST = 86_400_000;

type CheckDeps = Pick<SettlementContext, 'store' | 'log' | 'onSettled'> & { batches: Batches };

/**
 * Builds the round that checks settled files whose check is due: a program that pauses while it writes still has its
 * file open when that is settled, and appends rows that nobody reads. Each file is reported once. A file that was moved
 * or removed is not reported, also when a later file has its place.
 */
export function createFileChecks({ store: { time }, batches, log, onSettled }: CheckDeps) {
  async function check({ check, batch: name }: FileCheck): Promise<void> {
    const batch = await batches.find(name);
    if (
      batch === undefined ||
      batch.unreadable !== undefined ||
      !(await isChanged(batch, batches))
    ) {
      return batches.fileChecked(check);
    }
    const unreadable = changedAfterRead(batch);
    const isNew = await batches.withLease(name, 'lease', () =>
      batches.settledFileChanged(name, fileOf(batch), unreadable),
    );
    if (!isNew) return;
    fileChanged(log, {
      batch: name,
      source: batch.source,
      file: batch.name,
      reason: unreadable.message,
    });
    onSettled({ ...batch, unreadable }, countNeedingPerson(batch.counts) + 1);
  }

  return async (): Promise<void> => {
    for (const due of await batches.dueFileChecks(time.now(), MOST_CHECKS)) {
      try {
        await check(due);
      } catch (error) {
        batchTrouble(log, { batch: due.batch, reason: toError(error).message });
        const { lastAt = 0 } = (await batches.find(due.batch)) ?? {};
        const again = time.now() + CHECK_AGAIN;
        await batches.fileChecked(due.check, again - lastAt < LONGEST ? again : undefined);
      }
    }
  };
}

/** Whether a settled file is there and has another size than the one that was read. */
async function isChanged(
  { batch, settledPath, inspection }: Batch,
  batches: Batches,
): Promise<boolean> {
  if (settledPath === undefined || inspection === undefined) return false;
  try {
    await using day = await openDay(settledPath);
    const found = await lstat(day.settled);
    return (
      found.isFile() &&
      found.size !== inspection.bytes &&
      (await batches.isLastAt(settledPath, batch))
    );
  } catch (error) {
    if (GONE.has(codeOf(error) ?? '')) return false;
    throw error;
  }
}

/** The codes of a file that was moved or removed; po-sync follows no link in its place. */
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'folder-is-link']);

/** Unreadable files that are looked for together: a year's may be many. */
const LOOKED_AT_ONCE = 100;
/** Milliseconds between two looks. */
const LOOK_GAP = 5_000;

/** Builds the round that looks whether a person removed unreadable files, whose pages say so then, until the file is back. */
export function createRemovalCheck({
  store,
  side,
  clock,
}: Pick<SettlementContext, 'store' | 'side' | 'clock'>) {
  const { redis, keys, time } = store;
  let due = 0;

  async function look(name: string): Promise<void> {
    const batch = await side.batches.find(name);
    if (batch === undefined || batch.state !== 'done') return;
    const [closing, isRemoved] = [fileRemoved(iso(time.now())), await isDismissed(batch)];
    if (isRemoved === (batch.isRemoved ?? false)) return;
    if (isRemoved) await redis.hsetnx(keys.closed(name), closing.place, JSON.stringify(closing));
    else await redis.hdel(keys.closed(name), closing.place);
    if (isRemoved) await redis.hset(keys.batch(name), { removed: '1' });
    else await redis.hdel(keys.batch(name), 'removed');
    await redis.sadd(keys.refresh, name);
  }

  return async (): Promise<void> => {
    if (clock.monotonic() < due) return;
    const names = await redis.hkeys(keys.unreadable);
    for (let i = 0; i < names.length; i += LOOKED_AT_ONCE) {
      await Promise.all(names.slice(i, i + LOOKED_AT_ONCE).map(look));
    }
    due = clock.monotonic() + LOOK_GAP;
  };
}

/**
 * Whether somebody removed an unreadable file from where it was put away, and so decided that nothing is to be done. An
 * inbox without its marker may be a share that is not mounted now, or one that was moved: unless the file was gone before,
 * a person has to say so.
 */
export async function isDismissed(batch: Batch): Promise<boolean> {
  if (!(await isAway(batch))) return false;
  if (batch.cancelled || batch.isRemoved) return true;
  if (batch.settledPath === undefined) return false;
  const inbox = dirname(dirname(dirname(batch.settledPath)));
  return (await environmentOf(inbox).catch(() => undefined)) !== undefined;
}

/** An unreadable file is not where it was put away, or that is not known: its page was removed, and Redis lost its data. */
const isAway = async ({ settledPath, open, kind }: Batch) =>
  open === 0 && (settledPath === undefined ? kind === 'inbox' : await isGone(settledPath));

/** Whether an unreadable file is lost. An inbox that is not there now says nothing about its files. */
export async function isLost(
  batch: Batch,
  sources: readonly { type: string; path: string }[],
): Promise<boolean> {
  const inbox = dirname(dirname(dirname(batch.settledPath ?? '')));
  return (
    !sources.some(({ type, path }) => type === 'inbox' && path === inbox) && (await isAway(batch))
  );
}
