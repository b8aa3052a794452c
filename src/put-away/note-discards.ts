import { constants, lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import { openRegularFile } from '../core/regular-file.ts';
import { type KeptDiscard, keepDiscards } from '../ledger/batches/kept-discards.ts';
import type { DeadLetter } from '../order/dead-letter.ts';
import { formerOf, isRecognizable } from '../order/digest.ts';
import { readReport, reportNames } from '../report/report.ts';
import type { SettlementContext } from './put-batch-away.ts';

// Redis may come back from before a person discarded an order of a file in progress, which no report says yet.

/** Beside the report of a batch in progress, one JSON text a line. The report of a finished one has its dead letters. */
const NOTES = '.discarded.ndjson';
/** Bytes of notes that are read: several hundred thousand orders. */
const MOST = 64 * 1024 * 1024;

/** Notes who discarded an order, where the report of its batch has a folder already. A discard does not fail for it. */
export async function noteDiscard(folder: string, letter: DeadLetter, by: { at: number; who: string }): Promise<void> {
  const was = formerOf(letter);
  if (!isRecognizable(was)) return;
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  try {
    const { uid, gid } = await lstat(folder);
    await using notes = await open(join(folder, NOTES), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o640);
    await notes.appendFile(`${JSON.stringify({ was, at: by.at, who: by.who } satisfies KeptDiscard)}\n`);
    // Of the daemon's user, who reads it.
    await notes.chown(uid, gid);
  } catch {}
}

/** Builds the step that enters what people discarded in batches that have not ended, as noted. Before delivery begins. */
export function createDiscardRecall({ config, side: { batches }, store }: SettlementContext) {
  return async (): Promise<void> => {
    const reports = config.reports.path;
    for (const name of await reportNames(reports)) {
      const folder = join(reports, name);
      const noted = await notesIn(folder);
      if (noted.length === 0 || (await batches.find(name))?.state === 'done') continue;
      const report = await readReport(folder).catch(() => undefined);
      if (report?.environment === config.environment && !report.finishedAt) await keepDiscards(name, noted, store);
    }
  };
}

async function notesIn(folder: string): Promise<KeptDiscard[]> {
  try {
    await using file = await openRegularFile(join(folder, NOTES));
    const { size } = await file.stat();
    if (size > MOST) return [];
    return (await file.readFile('utf8')).split('\n').flatMap(noteIn);
  } catch {
    return [];
  }
}

/** A line that was cut off says nothing. */
function noteIn(line: string): KeptDiscard[] {
  try {
    const { was, at, who } = JSON.parse(line) as { [key in keyof KeptDiscard]: unknown };
    const { number, content } = was as { number: unknown; content: unknown };
    const isNote = [number, content, who].every((one) => typeof one === 'string') && typeof at === 'number';
    return isNote ? [{ was: { number: String(number), content: String(content) }, at, who: String(who) }] : [];
  } catch {
    return [];
  }
}
