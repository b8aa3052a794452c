import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'csv-parse/sync';
import { trimBlanks } from '../../src/order/text.ts';
import { mappingOf } from '../support/read-text.ts';
import { judge, readOrRefuse, type Verdict } from './collections.ts';

const run = promisify(execFile);

/** Columns of a sheet that are read as order numbers and articles. */
const COLUMNS = 4;
/** Rows of a sheet that are compared. */
const ROWS = 2_000;
/** Milliseconds that a workbook may take. */
const LONGEST = 20_000;

/**
 * Orders whose articles LibreOffice shows otherwise than the value in the file: it calculates INFO and RANDBETWEEN again,
 * and shows a formula without a number format like the cells that it refers to.
 */
const SHOWN_OTHERWISE = new Set(['INFO', 'RANDBETWEEN', 'HH[M]', 'HH[MM]', '[COLOR9]']);

/** Separator, quote, UTF-8, first line, columns, language, text in quotes, as shown; -1: every sheet into a file. */
const AS_SHOWN = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1';

/**
 * Reads each pair of columns of each sheet as order numbers and articles, and compares what would be sent with what
 * LibreOffice shows in the same cells. Without LibreOffice a sheet is only read.
 */
export async function* workbookVerdicts(
  files: readonly string[],
  folder: string,
): AsyncGenerator<Verdict> {
  const shown = path.join(folder, 'shown');
  await mkdir(shown);
  const profile = pathToFileURL(path.join(folder, 'profile')).href;
  const flags = [
    `-env:UserInstallation=${profile}`,
    '--headless',
    '--norestore',
    '--convert-to',
    AS_SHOWN,
  ];
  await run('soffice', [...flags, '--outdir', shown, ...files], { timeout: 300_000 }).catch(() => {
    process.stdout.write(
      'LibreOffice (soffice) is not installed: workbooks are read, but not compared.\n',
    );
  });
  const sheets = await readdir(shown);
  for (const file of files) {
    const content = await readFile(file);
    const stem = path.basename(file, '.xlsx');
    const began = performance.now();
    const plain = judge(stem, await readOrRefuse(content, mappingOf()), () => undefined);
    const took = performance.now() - began;
    yield { ...plain, wrong: took < LONGEST ? [] : [`${stem}: takes ${Math.round(took)} ms`] };
    for (const sheet of sheets.filter((name) => name.startsWith(`${stem}-`))) {
      yield* sheetVerdicts(
        content,
        sheet,
        sheet.slice(stem.length + 1, -'.csv'.length),
        await cellsOf(path.join(shown, sheet)),
      );
    }
  }
}

async function cellsOf(file: string): Promise<string[][]> {
  const text = await readFile(file);
  return parse(text, { relax_column_count: true, skip_empty_lines: false, to: ROWS });
}

async function* sheetVerdicts(
  content: Buffer,
  name: string,
  sheet: string,
  cells: string[][],
): AsyncGenerator<Verdict> {
  const top = cells.findIndex((row) => row.some((cell) => cell.trim() !== ''));
  const header = (cells[top] ?? []).map((cell) => cell.trim());
  const columns = header.flatMap((text, column) =>
    isName(text) && header.indexOf(text) === column ? [column] : [],
  );
  for (let i = 0; i < Math.min(columns.length, COLUMNS); i += 2) {
    const [number = 0, article] = columns.slice(i, i + 2);
    const fields = {
      purchaseOrderNumber: header[number],
      ...(article !== undefined && { articleCode: header[article] }),
    };
    const defaults = { quantity: 1, ...(article === undefined && { articleCode: 'A' }) };
    const rules = {
      sheet,
      headerRow: top + 1,
      repeatedRows: 'allow',
      totalRows: 'allow',
      fields,
      defaults,
    };
    const mapping = mappingOf(rules as Parameters<typeof mappingOf>[0]);
    yield judge(name, await readOrRefuse(content, mapping), ({ number: sent, records, order }) => {
      for (const [at, { place }] of records.entries()) {
        const row = cells[place.line - 1];
        if (row === undefined) continue;
        const code = article === undefined ? 'A' : trimBlanks(row[article] ?? '');
        const [isNumber, isCode] = [
          trimBlanks(row[number] ?? '') === sent,
          code === order.items[at]?.articleCode,
        ];
        if (!isNumber || (!isCode && !SHOWN_OTHERWISE.has(sent)))
          return `line ${place.line}: ${sent} ${order.items[at]?.articleCode} instead of ${row[number]} ${code}`;
      }
      return undefined;
    });
  }
}

/** Whether a mapping can name the column. */
function isName(text: string): boolean {
  return text !== '' && text.length < 200 && !/\p{Cc}/u.test(text);
}
