import { join } from 'node:path';
import { codeOf } from '../core/errors.ts';
import { iso } from '../core/format.ts';
import { FIX_WORKBOOK } from '../correct/fix-workbook.ts';
import { readLetters } from '../correct/read-as.ts';
import type { Batch } from '../ledger/batches/batches.ts';
import type { Ledger } from '../ledger/ledger.ts';
import {
  type BroughtBy,
  type Closings,
  type DeadLetter,
  laterFilesIn,
} from '../order/dead-letter.ts';
import type { Fence } from '../redis/lease.ts';
import { createList, withLastAnswers } from './dead-letters.ts';
import { type Draft, openDraft } from './draft.ts';
import { reportPage } from './page/report-page.ts';
import { asTheyAre, type Corrections, withClosing } from './read-corrections.ts';
import { type Report, readReport, reportJson } from './report.ts';
import { readResults } from './results.ts';
import { addDeadLetter, addResult, broughtOf, elsewhereOf, newStory, type Story } from './story.ts';
import { removeFixFile, sentFacts, writeFix } from './write-report.ts';

type Accepted = (numbers: string[]) => Promise<number>;
type Known = {
  accepted?: Accepted;
  brought?: (letter: DeadLetter) => Promise<BroughtBy | undefined>;
  lookup?: Ledger['lookup'];
  help?: string | undefined;
  fence?: Fence;
};

/** What is known of a batch now: its open dead letters, why its file is unreadable since, and what the ledger knows of orders. */
type Now = Pick<Batch, 'open' | 'cancelledBy'> & Partial<Pick<Batch, 'unreadable'>> & Known;

/**
 * Rewrites a finished report after dead letters were closed or its file was changed: the list, the page, the number of
 * open ones, and the fix file without the settled orders. `corrections`: what later batches changed in them. The counts do
 * not change. Does nothing when the report has expired. Throws `report-not-written`.
 */
export async function refreshReport(
  folder: string,
  { open, unreadable, cancelledBy, help, accepted, brought, lookup, fence }: Now,
  closings: Closings,
  corrections: Corrections = new Map(),
): Promise<void> {
  const before = await readReport(folder);
  if (before === undefined) return;
  const report: Report = {
    ...before,
    ...(unreadable === undefined ? {} : { state: 'unreadable', error: unreadable }),
    ...(cancelledBy && { cancelledBy: { ...cancelledBy, at: iso(cancelledBy.at) } }),
    ...(help === undefined ? {} : { help }),
    open,
    ...laterFilesIn(closings),
  };
  await using drafts = new AsyncDisposableStack();
  const draft = async (name: string): Promise<Draft> =>
    drafts.use(await openDraft(join(folder, name), fence));
  const deadLetters = await draft('dead-letters.json');
  const page = await draft('report.html');
  const summary = await draft('report.json');

  const close = (letter: DeadLetter) => withClosing(letter, closings, corrections);
  const known = await resultsIn(
    folder,
    report.batch,
    report.counts.cancelled === 0 ? undefined : accepted,
  );
  const letters = withLastAnswers(readLetters(deadLetters.path), report.batch, lookup);
  const found = await closeDeadLetters(letters, known, { close, brought }, deadLetters);
  const story = { ...found, open: Math.max(open - broughtOf(found).count, 0) };
  await deadLetters.seal();
  const fix = open > 0 ? await draft(FIX_WORKBOOK) : undefined;
  if (fix) await writeFix(fix, deadLetters, report);
  const sent = sentFacts(story.later, story.listed, report.counts.duplicate);
  const complete = { ...report, ...sent, openElsewhere: elsewhereOf(story) };
  await page.write(reportPage({ report: complete, story, fixFiles: fix ? [FIX_WORKBOOK] : [] }));
  await summary.write(reportJson(complete));

  const files = [deadLetters, ...(fix ? [fix] : []), page, summary];
  for (const file of files) await file.seal();
  await fence?.();
  if (!fix) await removeFixFile(folder);
  for (const file of files) await file.publish();
}

async function closeDeadLetters(
  letters: AsyncIterable<DeadLetter>,
  story: Story,
  known: { close(letter: DeadLetter): DeadLetter; brought: Known['brought'] },
  deadLetters: Draft,
): Promise<Story> {
  const list = createList<DeadLetter>();
  for await (const { now, by } of asTheyAre(letters, known.close, known.brought)) {
    addDeadLetter(story, now, by);
    await deadLetters.write(list.entry(now));
  }
  await deadLetters.write(list.closing());
  return story;
}

/** Orders looked up at a time. */
const PAGE = 500;

/** A story with the time of the first outcome and the cancelled orders, if `results.csv` still exists. */
async function resultsIn(
  folder: string,
  batch: string,
  accepted: Accepted | undefined,
): Promise<Story> {
  const story = newStory(batch);
  const cancelled: string[] = [];
  const look = async () => {
    const sent = await accepted?.(cancelled.splice(0));
    story.sentElsewhere += sent ?? 0;
  };
  try {
    for await (const result of readResults(join(folder, 'results.csv'))) {
      addResult(story, result);
      if (result.outcome === 'cancelled' && cancelled.push(result.purchaseOrderNumber) === PAGE)
        await look();
    }
    await look();
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  return story;
}
