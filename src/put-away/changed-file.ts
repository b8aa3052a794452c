import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { Config } from '../config/config.ts';
import { draftPath, hashFile, openRegularFile, sameStamp, stampOf } from '../core/regular-file.ts';
import type { Inspection } from '../correct/inspection.ts';
import { inspectAs } from '../correct/read-as.ts';
import { readOrders } from '../correct/read-orders.ts';
import type { BatchError } from '../ledger/batches/batch-control.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { CheckedOrder } from '../order/order.ts';
import type { FileShape } from '../order/record.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { writeFileWhole } from '../report/draft.ts';

// A file that changed after some or all of its orders were admitted: these orders are reported like any others, and a
// person learns that the rest was not sent.

type Deps = { batches: Batches; ledger: Ledger; redis: Redis; keys: Keys };

const PAGE = 500;

/** How many orders of a batch were admitted: those with an outcome and those in progress. Nobody admits meanwhile. */
export async function countAdmitted(batch: string, deps: Deps): Promise<number> {
  const inProgress = await inProgressOf(batch, deps);
  const bits = (await deps.redis.getBuffer(deps.keys.counted(batch))) ?? Buffer.alloc(0);
  for (let ordinal = 0; ordinal < bits.length * 8; ordinal += 1) {
    if ((((bits[ordinal >> 3] ?? 0) >> (7 - (ordinal & 7))) & 1) === 1) inProgress.add(ordinal);
  }
  return inProgress.size;
}

/** Whether orders of a batch have no outcome yet. */
export async function isUndecided(batch: string, deps: Deps): Promise<boolean> {
  const [inProgress, isCounted] = [
    await inProgressOf(batch, deps),
    await deps.batches.counted(batch),
  ];
  return [...inProgress].some((ordinal) => !isCounted(ordinal));
}

async function inProgressOf(batch: string, deps: Deps): Promise<Set<number>> {
  const inProgress = new Set<number>();
  // An order can move between the two sets meanwhile, but not past all three scans.
  for (const key of [deps.keys.due, deps.keys.doubt, deps.keys.due])
    await scanInto(inProgress, batch, key, deps);
  return inProgress;
}

async function scanInto(
  ordinals: Set<number>,
  batch: string,
  key: string,
  { redis, ledger }: Deps,
): Promise<void> {
  let cursor = '0';
  do {
    const [next, members] = await redis.zscan(key, cursor, 'COUNT', PAGE);
    cursor = next;
    // Members and scores alternate.
    const known = await ledger.lookup(members.filter((_, i) => i % 2 === 0));
    for (const one of known) {
      if (one.kind === 'open' && one.entry.batch === batch) ordinals.add(one.entry.ordinal);
    }
  } while (cursor !== '0');
}

/** The content that was admitted from, restored. Disposing removes it. */
export type Original = AsyncDisposable & { shape: FileShape; orders: AsyncIterable<CheckedOrder> };

/**
 * Restores the content that the orders were admitted from, when the file was only appended to: its first bytes still
 * have the recorded SHA-256. Undefined when the content itself was changed. `folder` takes a temporary copy.
 */
export async function openOriginal(
  batch: Batch,
  folder: string,
  { batches, config }: { batches: Batches; config: Config },
): Promise<Original | undefined> {
  const { inspection, begunWith, path } = batch;
  if (inspection === undefined || inspection.bytes === 0 || begunWith === undefined)
    return undefined;
  const end = inspection.bytes - 1;
  if ((await hashOf(path, end)) !== begunWith) return undefined;
  const copy = draftPath(folder);
  await using handle = await openRegularFile(path);
  await writeFileWhole(copy, handle.createReadStream({ start: 0, end, autoClose: false }));
  const { inspection: read } = await inspectAs({ ...batch, path: copy }, { config, batches });
  const isCounted = await batches.counted(batch.batch);
  return {
    shape: inspection.shape,
    orders: admittedOnly(readOrders(copy, read, {}), isCounted),
    [Symbol.asyncDispose]: () => rm(copy, { force: true }),
  };
}

async function* admittedOnly(
  orders: AsyncIterable<CheckedOrder>,
  isCounted: (ordinal: number) => boolean,
): AsyncGenerator<CheckedOrder> {
  for await (const order of orders) if (isCounted(order.ordinal)) yield order;
}

async function hashOf(path: string, end: number): Promise<string> {
  await using handle = await openRegularFile(path);
  const hash = createHash('sha256');
  for await (const chunk of handle.createReadStream({ start: 0, end, autoClose: false }))
    hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** The error of a file that changed after its last order was admitted. */
export function changedAfterRead({ name }: Pick<Batch, 'name'>): BatchError {
  return {
    code: 'unreadable-changed',
    message: `${name} was changed after it was read. What was added or changed since then was not sent.`,
    remedy: 'Drop the complete file again. Orders that were already sent are recognized.',
  };
}

/**
 * Whether the claimed file at `path` still is what its orders were admitted from. Removes its inspection from those that
 * this daemon keeps when the file has to be inspected again.
 */
export async function isAsAdmitted(
  path: string,
  { batch, begunWith, inspection }: Batch,
  inspections: Map<string, Inspection>,
): Promise<boolean> {
  if (begunWith === undefined || inspection === undefined) return true;
  const stamp = inspections.get(batch)?.stamp;
  if (stamp !== undefined) {
    await using handle = await openRegularFile(path);
    if (sameStamp(stamp, await stampOf(handle))) return true;
    inspections.delete(batch);
  }
  return (await hashFile(path, { most: inspection.bytes })).sha256 === begunWith;
}
