import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { codeOf } from '../errors.ts';
import type { DeadLetter } from '../order/dead-letter.ts';
import { openDraft } from './draft.ts';
import { addError } from './error-groups.ts';
import { fixFileName } from './fix-file.ts';
import { letterList } from './letter-list.ts';
import { reportPage } from './page/report-page.ts';
import type { Report } from './report.ts';
import { newStory } from './story.ts';
import { reportJson } from './write-progress.ts';

/** How the dead letter of an order number was closed. */
type Closing = { at: string; by: string; batch: string };

/**
 * Writes a finished report anew after some of its dead letters were closed: the list, the page, and how many are
 * `open`. What the batch counted stays as it was. A report that expired meanwhile is left alone.
 */
export async function refreshReport(
  folder: string,
  open: number,
  closings: ReadonlyMap<string, Closing>,
): Promise<void> {
  const before = await readReport(folder);
  if (before === undefined) return;
  const report: Report = { ...before, open };
  await using drafts = new AsyncDisposableStack();
  const letters = drafts.use(await openDraft(join(folder, 'dead-letters.json')));
  const page = drafts.use(await openDraft(join(folder, 'report.html')));
  const summary = drafts.use(await openDraft(join(folder, 'report.json')));
  const story = { ...newStory(), firstAt: report.startedAt, lastAt: report.finishedAt ?? undefined, open };
  const list = letterList();
  for await (const letter of lettersIn(folder)) {
    const closing = letter.closed ? undefined : closings.get(letter.purchaseOrderNumber);
    const now = closing ? { ...letter, closed: { at: closing.at, by: closing.by, batch: closing.batch } } : letter;
    addError(story.groups, now);
    await letters.write(list.entry(now));
  }
  await letters.write(list.closing());
  const fixFile = open > 0 && report.format ? fixFileName(report.format) : undefined;
  await page.write(reportPage({ report, story, fixFile }));
  await summary.write(reportJson(report));
  for (const file of [letters, page, summary]) await file.publish();
}

async function readReport(folder: string): Promise<Report | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, 'report.json'), 'utf8')) as Report;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The entries of a list as `letterList` writes it: each on a line of its own, between commas. */
async function* lettersIn(folder: string): AsyncGenerator<DeadLetter> {
  const lines = createInterface({
    input: createReadStream(join(folder, 'dead-letters.json')),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  for await (const line of lines) {
    if (line.startsWith('{')) yield JSON.parse(line) as DeadLetter;
  }
}
