import { correctedBook } from './fix-workbook.ts';
import { until } from './until.ts';
import type { Workplace } from './workplace.ts';

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';

/** A file of these rows. */
export const sheet = (...rows: string[]) => `${[HEAD, ...rows].join('\n')}\n`;

/** The report of a file, by the file's name. */
export const reportNamed = async (place: Workplace, file: string) =>
  (await place.reportsNow()).find((one) => one.file === file);

/** The report of a file when it is finished. */
export const finishedReport = (place: Workplace, file: string) =>
  until(`the end of ${file}`, async () => {
    const report = await reportNamed(place, file);
    return report?.finishedAt ? report : undefined;
  });

/**
 * Drops a file in which an order is refused at first, `PO-3` and `PO-4` fail a check, then settles these: `PO-2` is sent again, `PO-4`
 * discarded, and the fix file comes back as `correct` leaves it.
 */
export async function settleWeek(
  place: Workplace,
  rows: readonly string[],
  correct: Parameters<typeof correctedBook>[2],
) {
  await place.drop('=week.csv', sheet(...rows));
  const first = await finishedReport(place, '=week.csv');
  await place.run(['dead-letters', 'retry', '--order', 'PO-2', '--yes']);
  await until('the second attempt', () => place.stored().has('PO-2'));
  await place.run(['dead-letters', 'discard', '--order', 'PO-4', '--yes']);
  const fix = await until('the fix file of one order', async () => {
    const all: string[] = [];
    const book = await correctedBook(place, first, (row) => {
      all.push(row['purchaseOrderNumber'] ?? '');
      return correct(row);
    });
    return new Set(all).size === 1 && all[0] === 'PO-3' && book;
  });
  await place.drop('fix.xlsx', fix);
  await finishedReport(place, 'fix.xlsx');
}
