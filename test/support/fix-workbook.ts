import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openFile } from '../../src/parse/open.ts';
import { makeTempFolder } from './temp-folder.ts';
import { textRows, writeWorkbook } from './write-workbook.ts';

/** The rows of a workbook, by the names of its columns. */
export type Sheet = { header: string[]; rows: Record<string, string>[] };

/** Reads a workbook as a person sees it. */
export async function readSheet(file: string | Buffer): Promise<Sheet> {
  await using folder = await makeTempFolder();
  const copy = path.join(folder.path, 'copy.xlsx');
  await writeFile(copy, typeof file === 'string' ? await readFile(file) : file);
  await using workbook = await openFile(copy, { format: 'xlsx', isWritten: false });
  const all: string[][] = [];
  for await (const page of workbook.records())
    all.push(...page.flatMap((row) => (row.kind === 'row' ? [[...row.cells]] : [])));
  const [header = [], ...rows] = all;
  return {
    header,
    rows: rows.map((cells) => Object.fromEntries(header.map((name, i) => [name, cells[i] ?? '']))),
  };
}

/** The same workbook as a spreadsheet saves it. */
export async function writeSheet({ header, rows }: Sheet): Promise<Buffer> {
  const texts = rows.map((row) => header.map((name) => row[name] ?? ''));
  return await writeWorkbook(textRows([header, ...texts]));
}

/** The workbook of a report as a person corrects it: `change` says what of each row; a row of which it says nothing is removed. */
export async function correctedBook(
  { reports }: { reports: string },
  { batch }: { batch: string },
  change: (row: Record<string, string>) => Record<string, string> | undefined,
): Promise<Buffer> {
  const { header, rows } = await readSheet(path.join(reports, batch, 'fix.xlsx'));
  const changed = rows.flatMap((row) => {
    const cells = change(row);
    return cells ? [{ ...row, ...cells }] : [];
  });
  return await writeSheet({ header, rows: changed });
}
