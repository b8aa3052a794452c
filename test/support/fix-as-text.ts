import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { readSheet, writeSheet } from './fix-workbook.ts';
import { openWorkplace, type Workplace } from './workplace.ts';

/** The name under which `read` gives fix.xlsx as text. */
const FIX = 'fix.xlsx';

const ENDS = ['_id', '_do'];
const IS_FIX = /^[^\n]*,_id,_do\n/;

/**
 * A workplace in which tests edit workbooks as texts: `read` gives fix.xlsx as CSV, with `_id` and an empty `_do` as its last
 * columns, and what is dropped in this form is dropped as a workbook.
 */
export async function openFixPlace(
  ...options: Parameters<typeof openWorkplace>
): Promise<Workplace> {
  const place = await openWorkplace(...options);
  return {
    ...place,
    async read(report, name) {
      if (name !== FIX) return await place.read(report, name);
      const { header, rows } = await readSheet(path.join(place.reports, report.batch, FIX));
      const columns = [...header.filter((one) => !one.startsWith('_')), ...ENDS];
      const texts = rows.map((row) => columns.map((column) => row[column] ?? ''));
      return [columns, ...texts].map((cells) => `${cells.map(quoted).join()}\n`).join('');
    },
    async drop(name, content) {
      const isFix = typeof content === 'string' && IS_FIX.test(content);
      await place.drop(name, isFix ? await asBook(content) : content);
    },
  };
}

const quoted = (cell: string) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

async function asBook(text: string): Promise<Buffer> {
  const [header = [], ...rows]: string[][] = parse(text, { relax_column_count: true });
  return await writeSheet({
    header,
    rows: rows.map((cells) => Object.fromEntries(header.map((name, i) => [name, cells[i] ?? '']))),
  });
}
