import { until } from './until.ts';
import type { Workplace } from './workplace.ts';

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';

/** A file of these rows. */
export const sheet = (...rows: string[]) => `${[HEAD, ...rows].join('\n')}\n`;

/** The report of a file, by the file's name. */
const reportNamed = async (place: Workplace, file: string) =>
  (await place.reportsNow()).find((one) => one.file === file);

/** The report of a file when it is finished. */
export const finishedReport = (place: Workplace, file: string) =>
  until(`the end of ${file}`, async () => {
    const report = await reportNamed(place, file);
    return report?.finishedAt ? report : undefined;
  });
