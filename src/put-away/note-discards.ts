import { constants, lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import { iso } from '../core/format.ts';
import { isGone, openRegularFile } from '../core/regular-file.ts';
import { type KeptDiscard, keepDiscards } from '../ledger/batches/kept-discards.ts';
import type { Closed, DeadLetter } from '../order/dead-letter.ts';
import { formerOf, isRecognizable } from '../order/digest.ts';
import { readReport, reportNames } from '../report/report.ts';
import type { SettlementContext } from './put-batch-away.ts';

// Redis may come back from before a person discarded an order of a file in progress, which no report says yet. The list of a
// report, which says it later, may be lost together with Redis.

/** Beside the report, one JSON text a line. */
const NOTES = '.discarded.ndjson';
/** Bytes of notes that are read: several hundred thousand orders. */
const MOST = 64 * 1024 * 1024;

/** `line`: that of its result; notes of older versions have none. */
type Note = KeptDiscard & { line?: number };

/** Notes who discarded an order, where the report of its batch has a folder already. A discard does not fail for it. */
export async function noteDiscard(folder: string, letter: DeadLetter, by: { at: number; who: string }): Promise<void> {
  const note: Note = { was: formerOf(letter), at: by.at, who: by.who, line: letter.location.line };
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  try {
    const { uid, gid } = await lstat(folder);
    await using notes = await open(join(folder, NOTES), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o640);
    await notes.appendFile(`${JSON.stringify(note)}\n`);
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
      if ((await isGone(join(folder, NOTES))) || (await batches.find(name))?.state === 'done') continue;
      const noted = (await notesIn(folder)).filter(({ was }) => isRecognizable(was));
      const report = await readReport(folder).catch(() => undefined);
      if (report?.environment === config.environment && !report.finishedAt) await keepDiscards(name, noted, store);
    }
  };
}

/** Who discarded an order of this report, by its number and the line of its result, and when. */
export async function discardsIn(folder: string): Promise<(number: string, line: number) => Closed | undefined> {
  const keyOf = (number: string, line: number | undefined) => JSON.stringify([number, line]);
  const noted = new Map((await notesIn(folder)).map((note) => [keyOf(note.was.number, note.line), note]));
  return (number, line) => {
    const note = noted.get(keyOf(number, line));
    return note && { at: iso(note.at), by: 'discarded', who: note.who };
  };
}

async function notesIn(folder: string): Promise<Note[]> {
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
function noteIn(text: string): Note[] {
  try {
    const { was, at, who, line } = JSON.parse(text) as { [key in keyof Note]: unknown };
    const { number, content } = was as { number: unknown; content: unknown };
    const isTime = typeof at === 'number' && !Number.isNaN(new Date(at).getTime());
    const isNote = [number, content, who].every((one) => typeof one === 'string') && isTime;
    const note = { was: { number: String(number), content: String(content) }, at: Number(at), who: String(who) };
    return isNote ? [{ ...note, ...(typeof line === 'number' && { line }) }] : [];
  } catch {
    return [];
  }
}
