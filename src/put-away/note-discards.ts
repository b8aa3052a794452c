import { constants, lchown, lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import { toError } from '../core/errors.ts';
import { isGone, openRegularFile } from '../core/regular-file.ts';
import type { Batch } from '../ledger/batches/batches.ts';
import {
  type KeptDiscard,
  keepDiscards,
  keptDiscardIn,
  keptDiscards,
} from '../ledger/batches/kept-discards.ts';
import { discardsUnread } from '../log/events/batch.ts';
import type { DeadLetter } from '../order/dead-letter.ts';
import { formerOf, isRecognizable } from '../order/digest.ts';
import type { Store } from '../redis/store.ts';
import { writeFileWhole } from '../report/draft.ts';
import { readReport, reportNames } from '../report/report.ts';
import type { SettlementContext } from './put-batch-away.ts';

// Redis may come back from before a person discarded an order of a file in progress, which no report says yet. The list of a
// report, which says it later, may be lost together with Redis.

/** Beside the report, one JSON text a line. */
const NOTES = '.discarded.ndjson';
/** Bytes of notes that are read: several hundred thousand orders. */
const MOST = 64 * 1024 * 1024;

/**
 * Notes who discarded an order, beside the report of its batch and, while that is in progress, in Redis. A discard does not
 * fail because it cannot be noted beside the report: `createDiscardNotes` tries again.
 */
export async function noteDiscard(
  {
    folder,
    batch,
    letter,
  }: { folder: string; batch: Pick<Batch, 'batch' | 'state'>; letter: DeadLetter },
  { at, who }: { at: number; who: string },
  store: Pick<Store, 'redis' | 'keys'>,
): Promise<void> {
  const was = formerOf(letter);
  const { line } = letter.location;
  const kept: KeptDiscard = {
    was: isRecognizable(was) ? was : { ...was, content: '' },
    at,
    who,
    line,
  };
  await append(folder, kept).catch(() => undefined);
  if (batch.state !== 'done' && was.number !== '') await keepDiscards(batch.batch, [kept], store);
}

/** What is there may be a pipe without a reader, or another name of a file that is not ours. */
async function append(folder: string, kept: KeptDiscard): Promise<void> {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
  const { uid, gid } = await lstat(folder);
  await using notes = await open(
    join(folder, NOTES),
    O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK,
    0o640,
  );
  const found = await notes.stat();
  if (!found.isFile() || found.nlink !== 1) return;
  // The line before may be cut off, because the disk was full.
  await notes.appendFile(`\n${JSON.stringify(kept)}\n`);
  // Of the daemon's user, who reads it.
  await notes.chown(uid, gid);
}

/**
 * Builds the step that notes beside the report of a batch in progress what could not be noted when a person discarded it: on a
 * full disk, before the report had a folder, or by a user whose files the daemon cannot read. It returns whether all are noted.
 */
export function createDiscardNotes({ store }: Pick<SettlementContext, 'store'>) {
  const noted = new Map<string, number>();
  return async (batch: string, folder: string): Promise<boolean> => {
    const size = await store.redis.hlen(store.keys.discards(batch));
    if (size === (noted.get(batch) ?? 0)) return true;
    const known = await notesIn(folder);
    const isKnown = new Set(known.map(textOf));
    const kept = await keptDiscards(batch, store);
    const missing = kept.filter((one) => !isKnown.has(textOf(one)));
    const isNoted = missing.length === 0 || (await writeAll(folder, [...known, ...missing]));
    if (isNoted) noted.set(batch, kept.length);
    return isNoted;
  };
}

const textOf = ({ was: { number, content } }: KeptDiscard): string =>
  JSON.stringify([number, content]);

/** Replaces what is there, also a link or a pipe. False where that is not possible now. */
async function writeAll(folder: string, all: readonly KeptDiscard[]): Promise<boolean> {
  const file = join(folder, NOTES);
  try {
    const { uid, gid } = await lstat(folder);
    const lines = all.map((one) => `${JSON.stringify(one)}\n`);
    await writeFileWhole(file, lines);
    await lchown(file, uid, gid);
    return true;
  } catch {
    return false;
  }
}

/** Builds the step that enters what people discarded in batches that have not ended, as noted; a damaged report does not say that. Before delivery begins. */
export function createDiscardRecall({ config, side: { batches }, store, log }: SettlementContext) {
  return async (): Promise<void> => {
    for (const name of await reportNames(config.reports.path)) {
      const folder = join(config.reports.path, name);
      if ((await isGone(join(folder, NOTES))) || (await batches.find(name))?.state === 'done')
        continue;
      const report = await readReport(folder).catch(() => undefined);
      if (report && (report.environment !== config.environment || report.finishedAt)) continue;
      const noted = await notesIn(folder, (reason) => discardsUnread(log, { batch: name, reason }));
      await keepDiscards(
        name,
        noted.filter(({ was }) => was.number !== ''),
        store,
      );
    }
  };
}

async function notesIn(
  folder: string,
  onTrouble?: (reason: string) => void,
): Promise<KeptDiscard[]> {
  try {
    await using file = await openRegularFile(join(folder, NOTES));
    if ((await file.stat()).size > MOST)
      throw new Error(`${join(folder, NOTES)} is larger than 64 MB`);
    return (await file.readFile('utf8')).split('\n').flatMap(keptDiscardIn);
  } catch (error) {
    onTrouble?.(toError(error).message);
    return [];
  }
}
