import { join } from 'node:path';
import { FIX_WORKBOOK, fixWorkbook } from '../correct/fix-workbook.ts';
import { letterRows } from '../correct/letter-rows.ts';
import { readLetters } from '../correct/read-as.ts';
import type { DeadLetter } from '../order/dead-letter.ts';
import type { CheckedOrder } from '../order/order.ts';
import type { OrderResult } from '../order/outcome.ts';
import type { FileShape } from '../order/record.ts';
import type { Fence } from '../redis/lease.ts';
import { createList } from './dead-letters.ts';
import { makeFolder } from './disk.ts';
import { clearDrafts, type Draft, openDraft } from './draft.ts';
import { type LeftOutOrders, leftOutTexts } from './left-out.ts';
import type { PageLinks } from './page/html.ts';
import { reportPage } from './page/report-page.ts';
import { type Report, readReport, reportJson } from './report.ts';
import { RESULTS_HEADER, resultLine, waitingTexts } from './results.ts';
import { addOrder, allNameless, newStory, type Story } from './story.ts';

/** An order of the batch with its result; `deadLetter` where it needs, or needed, a person. */
export type ReportedOrder = {
  order: CheckedOrder;
  result: OrderResult;
  deadLetter?: DeadLetter;
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
  links?: PageLinks;
  /** Called after the last order: what `skip` left out although it was sent. */
  leftOut?: () => Promise<LeftOutOrders | undefined>;
  /** Of the lease with which it is written. */
  fence?: Fence | undefined;
};

/**
 * Writes the files of a batch (docs/reports.md), each complete or not at all, and `report.json` last: when
 * it says `finished`, the others are there. No file is replaced before all are on the disk. Memory does not grow with
 * the orders. A call that was interrupted is repeated; a report that is there never changes: its orders are only passed on.
 * Throws `report-not-written` with the path.
 */
export async function writeReport(input: ReportInput): Promise<void> {
  const { folder, report, shape, orders, fence } = input;
  if ((await readReport(folder).catch(() => undefined)) !== undefined) return drain(orders);
  await makeFolder(folder);
  await using drafts = new AsyncDisposableStack();
  const draft = async (name: string): Promise<Draft> =>
    drafts.use(await openDraft(join(folder, name), fence));

  const results = await draft('results.csv');
  const deadLetters = await draft('dead-letters.json');
  const page = await draft('report.html');
  const summary = await draft('report.json');
  await clearDrafts(folder);

  const story = await writeOrders(orders, { results, deadLetters, shape });
  await deadLetters.seal();
  const fix = story.open > 0 && shape ? await draft(FIX_WORKBOOK) : undefined;
  if (fix && shape) await writeFix(fix, deadLetters, shape);
  const complete = withStory(report, story, await input.leftOut?.());
  await page.write(
    reportPage({ report: complete, story, hasFix: fix !== undefined, ...input.links }),
  );
  await summary.write(reportJson(complete));

  const all = [results, deadLetters, fix, page, summary];
  const written = all.filter((file) => file !== undefined);
  for (const file of written) await file.seal();
  await fence?.();
  for (const file of written) await file.publish();
}

async function drain(orders: AsyncIterable<ReportedOrder>): Promise<void> {
  for await (const _ of orders);
}

/** The report with what only its orders say. A step that is repeated after a crash may have stored some of these warnings. */
function withStory(report: Report, story: Story, leftOut: LeftOutOrders | undefined): Report {
  const nameless = allNameless(story);
  const found = [...waitingTexts(story.waiting), ...(leftOut ? leftOutTexts(leftOut) : [])];
  const warnings = [...new Set([...found, ...report.warnings])];
  const { corrections } = report;
  const { outdated } = story;
  return {
    ...report,
    ...(corrections && {
      corrections: {
        ...corrections,
        taken: corrections.taken - outdated,
        outdated: corrections.outdated + outdated,
      },
    }),
    ...(nameless === 0 ? {} : { nameless }),
    ...(leftOut && { leftOut }),
    warnings,
  };
}

/** Writes the open dead letters of a sealed list into the fix file. */
async function writeFix(
  fix: Draft,
  deadLetters: Draft,
  shape: Pick<FileShape, 'header' | 'items'>,
): Promise<void> {
  async function* open() {
    for await (const letter of readLetters(deadLetters.temporary))
      if (letter.closed === undefined && letter.rows !== undefined) yield letter;
  }
  for await (const piece of fixWorkbook([{ letters: open, shape }])) await fix.write(piece);
}

type OrderFiles = {
  results: Draft;
  deadLetters: Draft;
  shape: FileShape | undefined;
};

async function writeOrders(
  orders: AsyncIterable<ReportedOrder>,
  { results, deadLetters, shape }: OrderFiles,
): Promise<Story> {
  const story = newStory();
  const list = createList<DeadLetter>();
  const writeLetter = async ({ order, deadLetter }: ReportedOrder) => {
    if (deadLetter === undefined) return;
    const rows = shape ? { rows: letterRows(order, deadLetter, shape) } : {};
    await deadLetters.write(list.entry({ ...deadLetter, ...rows }));
  };

  await results.write(RESULTS_HEADER);
  for await (const reported of orders) {
    const { order, result, deadLetter } = reported;
    addOrder(story, result, deadLetter, order.records);
    await results.write(resultLine(result));
    await writeLetter(reported);
  }
  await deadLetters.write(list.closing());
  return story;
}
