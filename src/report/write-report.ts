import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { openFolder } from '../core/folder.ts';
import { FIX_WORKBOOK, fixWorkbook } from '../correct/fix-workbook.ts';
import { letterRows } from '../correct/letter-rows.ts';
import { readLetters } from '../correct/read-as.ts';
import { FILES_NAMED } from '../order/batch.ts';
import type { DeadLetter } from '../order/dead-letter.ts';
import type { CheckedOrder } from '../order/order.ts';
import type { OrderResult } from '../order/outcome.ts';
import type { FileShape } from '../order/record.ts';
import type { Fence } from '../redis/lease.ts';
import { CORRECTIONS, type CorrectedOrder } from './corrected-places.ts';
import type { Later } from './corrections.ts';
import { createList } from './dead-letters.ts';
import { makeFolder, written } from './disk.ts';
import { clearDrafts, type Draft, openDraft, writeFileWhole } from './draft.ts';
import { type LeftOutOrders, leftOutTexts } from './left-out.ts';
import { reportPage } from './page/report-page.ts';
import { type Report, reportJson } from './report.ts';
import {
  KEPT_ITEMS,
  type KeptOrder,
  keptOrder,
  RESULTS_HEADER,
  resultLine,
  shownBeforeTexts,
} from './results.ts';
import { addOrder, allNameless, newStory, type Story } from './story.ts';

/**
 * An order of the batch with its result; `deadLetter` where it needs, or needed, a person; `corrected` where its rows
 * came back in a fix file.
 */
export type ReportedOrder = {
  order: CheckedOrder;
  result: OrderResult;
  deadLetter?: DeadLetter;
  corrected?: CorrectedOrder;
  /** Whether the API has an order with its number now, as far as the ledger knows. */
  atApi?: 'yes' | 'no' | 'unknown';
};

export type ReportInput = {
  /** `<reports.path>/<batch>`; created when absent. */
  folder: string;
  report: Report;
  /** Undefined when the file could not be read: then there is no fix file. */
  shape: FileShape | undefined;
  /** Read once, in the order of the file. Its errors are passed on unchanged. */
  orders: AsyncIterable<ReportedOrder>;
  /** Called after the last order: what `skip` left out although it was sent. */
  leftOut?: () => Promise<LeftOutOrders | undefined>;
  /** Of the lease with which it is written. */
  fence?: Fence | undefined;
  /** The file is removed when its batch ends, as the copy of an export: the items that it brought are kept. */
  keepsItems?: boolean;
};

/**
 * Writes the files of a batch (docs/reports.md), each complete or not at all, and `report.json` last: when
 * it says `finished`, the others are there. No file is replaced before all are on the disk. Memory does not grow with
 * the orders, and a repeated call replaces an earlier one. Returns whether there is a fix file.
 * Throws `report-not-written` with the path.
 */
export async function writeReport(input: ReportInput): Promise<{ needsFix: boolean }> {
  const { folder, report, shape, orders, fence } = input;
  await makeFolder(folder);
  await using drafts = new AsyncDisposableStack();
  const draft = async (name: string): Promise<Draft> =>
    drafts.use(await openDraft(join(folder, name), fence));

  const results = await draft('results.csv');
  const deadLetters = await draft('dead-letters.json');
  const corrections = await draft(CORRECTIONS);
  const kept = input.keepsItems ? await draft(KEPT_ITEMS) : undefined;
  const page = await draft('report.html');
  const summary = await draft('report.json');
  await clearDrafts(folder);

  const { story, corrected, keeps } = await writeOrders(orders, {
    batch: report.batch,
    results,
    deadLetters,
    corrections,
    kept,
    shape,
  });
  await deadLetters.seal();
  const fix = story.open > 0 && shape ? await draft(FIX_WORKBOOK) : undefined;
  if (fix && shape) await writeFix(fix, deadLetters, shape);
  const fixes = fix ? [fix] : [];
  const complete = withStory(report, story, await input.leftOut?.());
  await page.write(
    reportPage({ report: complete, story, fixFiles: fixes.map(({ path }) => basename(path)) }),
  );
  await summary.write(reportJson(complete));

  const files = [
    results,
    deadLetters,
    ...(corrected > 0 ? [corrections] : []),
    ...(kept && keeps ? [kept] : []),
    ...fixes,
    page,
    summary,
  ];
  for (const file of files) await file.seal();
  await fence?.();
  if (!fix) await removeFixFile(folder);
  for (const file of files) await file.publish();
  return { needsFix: fixes.length > 0 };
}

/** The report with what only its orders say. A step that is repeated after a crash may have stored some of these warnings. */
function withStory(report: Report, story: Story, leftOut: LeftOutOrders | undefined): Report {
  const nameless = allNameless(story);
  const found = [...shownBeforeTexts(story.shownBefore), ...(leftOut ? leftOutTexts(leftOut) : [])];
  const warnings = [...new Set([...found, ...report.warnings])];
  const sent = sentFacts(story.later, story.listed, report.counts.duplicate);
  return {
    ...report,
    ...sent,
    ...(nameless === 0 ? {} : { nameless }),
    ...(leftOut && { leftOut }),
    warnings,
  };
}

/** What `report.json` says of orders that were accepted later, or ordered before. Without results (`listed` is 0), nobody knows which duplicates are ordered. */
export function sentFacts(
  { orders, of, rows, elsewhere, discarded, before }: Later,
  listed: number,
  duplicates: number,
) {
  const ofRows = [...rows].filter((one) => !of.has(one)).length;
  const all = orders + ofRows;
  const { same, other, files } = before;
  const areFew = files.size > 0 && files.size <= FILES_NAMED && !files.has('');
  const named = areFew && { files: [...files.keys()], batches: [...files.values()] };
  const orderedBefore = duplicates + other > 0 ? { same, other, ...named } : undefined;
  return {
    acceptedLater: all > 0 ? { orders: all, ofRows } : undefined,
    acceptedElsewhere: elsewhere || undefined,
    discarded: discarded || undefined,
    ...(listed > 0 && { orderedBefore }),
  };
}

/** Writes the open dead letters of a sealed list into the fix file. */
export async function writeFix(
  fix: Draft,
  deadLetters: Draft,
  shape: Pick<FileShape, 'header' | 'items'>,
): Promise<void> {
  async function* open() {
    for await (const letter of readLetters(deadLetters.temporary))
      if (letter.closed === undefined && letter.rows !== undefined) yield letter;
  }
  for await (const piece of fixWorkbook(open, shape)) await fix.write(piece);
}

/**
 * Writes the progress of a batch: `report.json` and the page, each complete or not at all. Leaves the page of a
 * finished batch as it is. `story`: what is known of its dead letters. Throws `report-not-written`.
 */
export async function writeProgress(
  folder: string,
  report: Report,
  story: Story = newStory(),
  fence?: Fence,
): Promise<void> {
  await makeFolder(folder);
  if (report.finishedAt === null) {
    const page = reportPage({ report, story, fixFiles: [] });
    await writeFileWhole(join(folder, 'report.html'), [page], fence);
  }
  await writeFileWhole(join(folder, 'report.json'), [reportJson(report)], fence);
}

type OrderFiles = {
  batch: string;
  results: Draft;
  deadLetters: Draft;
  corrections: Draft;
  kept: Draft | undefined;
  shape: FileShape | undefined;
};

/** `corrected`: how many orders have rows that came back; `keeps`: whether items were kept. */
async function writeOrders(
  orders: AsyncIterable<ReportedOrder>,
  files: OrderFiles,
): Promise<{ story: Story; corrected: number; keeps: boolean }> {
  const { batch, results, deadLetters, corrections, kept, shape } = files;
  const story = newStory(batch);
  const [list, correctionList] = [createList<DeadLetter>(), createList<CorrectedOrder>()];
  const keptList = createList<KeptOrder>();
  let corrected = 0;
  let keeps = false;
  const writeLetter = async ({ order, deadLetter }: ReportedOrder) => {
    if (deadLetter === undefined) return;
    const id = `${batch}-${order.ordinal}`;
    const rows = shape ? { rows: letterRows(order, deadLetter, shape) } : {};
    await deadLetters.write(list.entry({ id, revision: 1, ...deadLetter, ...rows }));
  };

  await results.write(RESULTS_HEADER);
  for await (const reported of orders) {
    const { order, result, deadLetter, corrected: correction } = reported;
    const brought = kept && keptOrder(order, result);
    addOrder(story, result, deadLetter);
    await results.write(resultLine(result));
    if (correction !== undefined) await corrections.write(correctionList.entry(correction));
    if (correction !== undefined) corrected += 1;
    if (brought !== undefined) await kept?.write(keptList.entry(brought));
    keeps ||= brought !== undefined;
    await writeLetter(reported);
  }
  await deadLetters.write(list.closing());
  await corrections.write(correctionList.closing());
  await kept?.write(keptList.closing());
  return { story, corrected, keeps };
}

/** Removes the fix file of an earlier report. */
export async function removeFixFile(folder: string): Promise<void> {
  await using opened = await written(folder, () => openFolder(folder));
  await written(join(folder, FIX_WORKBOOK), () =>
    rm(join(opened.path, FIX_WORKBOOK), { force: true }),
  );
}
