import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { openFolder } from '../core/folder.ts';
import { FILES_NAMED } from '../order/batch.ts';
import type { DeadLetter } from '../order/dead-letter.ts';
import { asWritten } from '../order/fixing.ts';
import type { CheckedOrder } from '../order/order.ts';
import type { OrderResult } from '../order/outcome.ts';
import type { FileFormat, FileShape } from '../order/record.ts';
import type { Fence } from '../redis/lease.ts';
import { CORRECTIONS, type CorrectedOrder } from './corrected-places.ts';
import type { Later } from './corrections.ts';
import { createList } from './dead-letters.ts';
import { makeFolder, written } from './disk.ts';
import { clearDrafts, type Draft, openDraft, writeFileWhole } from './draft.ts';
import { FIX_FILE_NAMES, fixFile, fixFileName } from './fix-file/fix-file.ts';
import { openFixWorkbook } from './fix-file/workbook.ts';
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
  /** Called after the last order: what `skipWhere` left out although it was sent. */
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
  const fix = shape === undefined ? undefined : await draft(fixFileName(shape.format));
  const page = await draft('report.html');
  const summary = await draft('report.json');
  await clearDrafts(folder);

  const { story, corrected, keeps } = await writeOrders(orders, {
    batch: report.batch,
    results,
    deadLetters,
    corrections,
    kept,
    fix,
    shape,
  });
  const fixes =
    story.open > 0 && fix && shape ? await sealFixes(folder, fix, shape.format, fence) : [];
  for (const one of fixes) drafts.use(one);
  const copy = fixes[0] && (await draft(asWritten(basename(fixes[0].path))));
  if (copy && fix)
    for await (const piece of createReadStream(fix.temporary)) await copy.write(piece as Buffer);
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
    ...(copy ? [copy] : []),
    ...fixes,
    page,
    summary,
  ];
  for (const file of files) await file.seal();
  await fence?.();
  await removeFixFiles(
    folder,
    fixes.map(({ path }) => path),
  );
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

/** Seals the fix file; a table also becomes a workbook, unless that is too large. */
export async function sealFixes(
  folder: string,
  fix: Draft,
  format: FileFormat,
  fence: Fence | undefined,
): Promise<Draft[]> {
  await fix.seal();
  if (fixFileName(format) !== 'dead-letters.csv') return [fix];
  const workbook = await openFixWorkbook(folder, { path: fix.temporary, format }, fence);
  return workbook === undefined ? [fix] : [fix, workbook];
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
  fix: Draft | undefined;
  shape: FileShape | undefined;
};

/** `corrected`: how many orders have rows that came back; `keeps`: whether items were kept. */
async function writeOrders(
  orders: AsyncIterable<ReportedOrder>,
  files: OrderFiles,
): Promise<{ story: Story; corrected: number; keeps: boolean }> {
  const { batch, results, deadLetters, corrections, kept, fix, shape } = files;
  const story = newStory(batch);
  const [list, correctionList] = [createList<DeadLetter>(), createList<CorrectedOrder>()];
  const keptList = createList<KeptOrder>();
  const neighbors = createNeighbors();
  let corrected = 0;
  let keeps = false;
  const form = shape && fixFile(shape, batch);
  const writeLetter = async ({ order, deadLetter }: ReportedOrder) => {
    if (deadLetter === undefined) return;
    await deadLetters.write(list.entry(deadLetter));
    if (form !== undefined && deadLetter.closed === undefined)
      await fix?.write(form.recordsOf(order, deadLetter));
  };

  await results.write(RESULTS_HEADER);
  if (form !== undefined) await fix?.write(form.opening());
  for await (const reported of orders) {
    const { order, result, deadLetter, corrected: correction } = reported;
    const brought = kept && keptOrder(order, result);
    addOrder(story, result, deadLetter);
    await results.write(resultLine(result));
    if (correction !== undefined) await corrections.write(correctionList.entry(correction));
    if (correction !== undefined) corrected += 1;
    if (brought !== undefined) await kept?.write(keptList.entry(brought));
    keeps ||= brought !== undefined;
    for (const one of neighbors.add(reported)) await writeLetter(one);
  }
  for (const one of neighbors.rest()) await writeLetter(one);
  await deadLetters.write(list.closing());
  await corrections.write(correctionList.closing());
  await kept?.write(keptList.closing());
  if (form !== undefined) await fix?.write(form.closing());
  return { story, corrected, keeps };
}

/** Rows that wait for their order; memory must not grow with the file. */
const MOST_WAITING = 2_000;

/**
 * Puts a row without a number next to the order that it stood beside. An order whose rows are apart comes at the end of
 * the file's orders. List and fix file need the same sequence: a fix file is thinned by the list.
 */
function createNeighbors() {
  const waiting = new Map<string, ReportedOrder[]>();
  let count = 0;
  let above = '';
  return {
    /** What is written now. */
    add(one: ReportedOrder): ReportedOrder[] {
      const { number, records } = one.order;
      if (number === '') {
        const [beside = above] = 'beside' in one.order ? (one.order.beside ?? []) : [];
        if (beside === above || count >= MOST_WAITING) return [one];
        waiting.set(beside, [...(waiting.get(beside) ?? []), one]);
        count += 1;
        return [];
      }
      above = number;
      const own = waiting.get(number) ?? [];
      waiting.delete(number);
      count -= own.length;
      const isAbove = ({ order }: ReportedOrder) =>
        order.place.line < (records[0]?.place.line ?? 0);
      return [...own.filter(isAbove), one, ...own.filter((row) => !isAbove(row))];
    },
    rest: () => [...waiting.values()].flat(),
  };
}

/** Removes the fix files of an earlier report. */
export async function removeFixFiles(folder: string, except: readonly string[]): Promise<void> {
  await using opened = await written(folder, () => openFolder(folder));
  const names = FIX_FILE_NAMES.filter((name) => !except.includes(join(folder, name)));
  for (const name of names)
    await written(join(folder, name), () => rm(join(opened.path, name), { force: true }));
}
