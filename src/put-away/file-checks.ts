import { lstat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf, toError } from '../core/errors.ts';
import { openFolderBelow } from '../core/folder.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import { batchTrouble, fileChanged } from '../log/events/batch.ts';
import { countNeedingPerson } from '../order/outcome.ts';
import { changedAfterRead } from './changed-file.ts';
import { fileOf, type SettlementContext } from './put-batch-away.ts';

/** Milliseconds until a check that failed is repeated. */
const CHECK_AGAIN = 60_000;

type CheckDeps = Pick<SettlementContext, 'store' | 'log' | 'announce' | 'onSettled'> & {
  batches: Batches;
};

/**
 * Builds the round that checks each settled file once, a minute after it was put away: a program that pauses while it writes
 * still has its file open when that is settled, and appends rows that nobody reads. A file that was moved or removed is not
 * reported, also when a later file has its place.
 */
export function createFileChecks(deps: CheckDeps) {
  const { batches, log, announce, onSettled } = deps;
  const { time } = deps.store;

  async function check(name: string): Promise<void> {
    const batch = await batches.find(name);
    const isSame =
      batch === undefined || batch.unreadable !== undefined || !(await isChanged(batch));
    if (isSame || (await isReplaced(batch, batches))) return batches.fileChecked(name);
    const unreadable = changedAfterRead(batch);
    const needPerson = countNeedingPerson(batch.counts) + 1;
    await announce({ ...batch, unreadable }, needPerson);
    const isNew = await batches.withLease(name, () =>
      batches.settledFileChanged(name, fileOf(batch), unreadable),
    );
    if (!isNew) return;
    fileChanged(log, {
      batch: name,
      source: batch.source,
      file: batch.name,
      reason: unreadable.message,
    });
    onSettled({ ...batch, unreadable }, needPerson);
  }

  return async (): Promise<void> => {
    for (const due of await batches.dueFileChecks(time.now())) {
      try {
        await check(due);
      } catch (error) {
        batchTrouble(log, { batch: due, reason: toError(error).message });
        await batches.fileChecked(due, time.now() + CHECK_AGAIN);
      }
    }
  };
}

/** Whether a settled file is there and has another size than the one that was read. */
async function isChanged({ settledPath, inspection }: Batch): Promise<boolean> {
  if (settledPath === undefined || inspection === undefined) return false;
  try {
    const day = dirname(settledPath);
    const where = dirname(day);
    // Whoever may write to the inbox could lead the look elsewhere.
    await using opened = await openFolderBelow(dirname(where), [basename(where), basename(day)]);
    const found = await lstat(join(opened.path, basename(settledPath)));
    return found.isFile() && found.size !== inspection.bytes;
  } catch (error) {
    if (GONE.has(codeOf(error) ?? '')) return false;
    throw error;
  }
}

const PAGE = 100;

/** Whether the file of a later batch is there: somebody took this one away. */
async function isReplaced(
  { batch, settledPath }: Batch,
  { names, find }: Pick<Batches, 'names' | 'find'>,
): Promise<boolean> {
  for (let from = 0; ; from += PAGE) {
    const later = await names(from, PAGE);
    for (const one of later) {
      if (one === batch) return false;
      if ((await find(one))?.settledPath === settledPath) return true;
    }
    if (later.length === 0) return false;
  }
}

/** The codes of a file that was moved or removed; po-sync follows no link in its place. */
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'folder-is-link']);
