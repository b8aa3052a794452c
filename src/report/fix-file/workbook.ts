import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { ErrorColumn } from '../../order/fixing.ts';
import { LIMITS } from '../../order/limits.ts';
import type { FileFormat } from '../../order/record.ts';
import type { Fence } from '../../redis/lease.ts';
import { type Draft, openDraft } from '../draft.ts';
import { fixDelimiterOf, fixEncodingOf } from '../encode.ts';
import { readText, splitCells, splitLines } from '../lines.ts';
import { FIX_WORKBOOK } from './fix-file.ts';

/** What Excel can open: rows of a sheet, characters of a cell. */
const MOST_ROWS = 1_048_576;
const LONGEST_CELL = 32_767;

/** All entries have the same time, so equal rows give equal bytes. */
const MODIFIED = new Date('2000-01-01T00:00:00Z');

/** A CSV fix file that is on the disk, and the format of its input. */
type FixTable = { path: string; format: FileFormat };

/**
 * Writes the rows of a CSV fix file as a workbook whose cells are all text, so that a spreadsheet changes none of them.
 * Returns the sealed draft, or undefined when Excel or po-sync could not read so large a workbook.
 * Throws `report-not-written`.
 */
export async function openFixWorkbook(
  folder: string,
  csv: FixTable,
  fence?: Fence,
): Promise<Draft | undefined> {
  const draft = await openDraft(join(folder, FIX_WORKBOOK), fence);
  const size = { rows: 0, bytes: 0, isTooLarge: false };
  const { zip, sheet } = zipOf('Orders to correct', sheetXml(csv, size));
  try {
    await Promise.race([writeAll(zip.outputStream, draft), failureOf(zip, sheet)]);
    await draft.seal();
  } catch (error) {
    await draft[Symbol.asyncDispose]();
    if (size.isTooLarge) return undefined;
    throw error;
  }
  return draft;
}

/** The package of a workbook with one sheet, as far as it is read. */
function zipOf(title: string, xml: AsyncGenerator<string>): { zip: ZipFile; sheet: Readable } {
  const zip = new ZipFile();
  for (const part of fixedParts(title))
    zip.addBuffer(Buffer.from(part.xml), part.name, { mtime: MODIFIED });
  const sheet = Readable.from(xml, { objectMode: false });
  zip.addReadStream(sheet, SHEET_PART, { mtime: MODIFIED });
  zip.end();
  return { zip, sheet };
}

/** Rejects when the rows cannot be read; yazl does not end its output then. */
function failureOf(zip: ZipFile, sheet: Readable): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  sheet.once('error', reject);
  zip.once('error', reject);
  return promise;
}

async function writeAll(chunks: NodeJS.ReadableStream, draft: Draft): Promise<void> {
  for await (const chunk of chunks) await draft.write(chunk as Buffer);
}

type Size = { rows: number; bytes: number; isTooLarge: boolean };

/** The sheet piece by piece. Ends with an error when it gets too large, with `isTooLarge` set. */
async function* sheetXml({ path, format }: FixTable, size: Size): AsyncGenerator<string> {
  const delimiter = fixDelimiterOf(format);
  let check = -1;
  for await (const line of splitLines(readText(path, fixEncodingOf(format).encoding), true)) {
    const cells = splitCells(size.rows === 0 ? line.replace(/^\ufeff/, '') : line, delimiter);
    const xml = size.rows === 0 ? sheetStart(cells) : rowXml(cells, size.rows + 1);
    if (size.rows === 0) check = cells.indexOf('_error_check' satisfies ErrorColumn);
    size.rows += 1;
    size.bytes += Buffer.byteLength(xml);
    size.isTooLarge ||= size.rows > MOST_ROWS || size.bytes > LIMITS.workbookInflatedBytes;
    size.isTooLarge ||= cells.some((cell) => cell.length > LONGEST_CELL);
    if (size.isTooLarge) throw new Error('too large for a workbook');
    yield xml;
  }
  yield SHEET_END.replace('</worksheet>', `${promptXml(check, size.rows)}$&`);
}

/** A spreadsheet shows it beside a selected cell. It has at most 255 characters, and restricts nothing. */
const CHECK_PROMPT =
  'Leave this cell as it is: it shows whether a program rewrote the row. Replace it with "confirmed" only if _error_message says so and the row is right as it is.';

function promptXml(column: number, rows: number): string {
  if (column < 0 || rows < 2) return '';
  const name = columnName(column);
  return `<dataValidations count="1"><dataValidation allowBlank="1" showInputMessage="1" promptTitle="_error_check" prompt="${escaped(CHECK_PROMPT).replaceAll('"', '&quot;')}" sqref="${name}2:${name}${rows}"/></dataValidations>`;
}

/** The sheet's name within the package of a workbook. */
const SHEET_PART = 'xl/worksheets/sheet1.xml';

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** Number format 49 is `@`: text (ECMA-376 part 1, 18.8.30). Style 1 has it, style 2 is the same in bold. */
const STYLES = `${XML}<styleSheet xmlns="${MAIN}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf/><xf numFmtId="49" applyNumberFormat="1"/><xf numFmtId="49" fontId="1" applyNumberFormat="1" applyFont="1"/></cellXfs></styleSheet>`;

/** The parts of a workbook with one sheet, without the sheet. */
function fixedParts(title: string): { name: string; xml: string }[] {
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  return [
    {
      name: '[Content_Types].xml',
      xml: `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/><Override PartName="/${SHEET_PART}" ContentType="${type}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${type}.styles+xml"/></Types>`,
    },
    {
      name: '_rels/.rels',
      xml: `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    },
    {
      name: 'xl/workbook.xml',
      xml: `${XML}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="${title}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      xml: `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
    },
    { name: 'xl/styles.xml', xml: STYLES },
  ];
}

/** The sheet up to its header row, which stays visible. `style`: of new cells; by default they are text too. */
function sheetStart(header: readonly string[], style = 1): string {
  const columns = header.map((name, index) => {
    const width = name === '_error_message' ? 80 : Math.min(Math.max(name.length + 2, 14), 40);
    return `<col min="${index + 1}" max="${index + 1}" width="${width}" style="${style}" customWidth="1"/>`;
  });
  const pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
  const views = `<sheetViews><sheetView workbookViewId="0">${pane}</sheetView></sheetViews>`;
  return `${XML}<worksheet xmlns="${MAIN}">${views}<cols>${columns.join('')}</cols><sheetData>${rowXml(header, 1, 2)}`;
}

const SHEET_END = '</sheetData></worksheet>';

/** A row of text cells and numbers. `row` is 1-based; `style` of its texts is an index of the style sheet. */
function rowXml(cells: readonly (string | number)[], row: number, style = 1): string {
  const xml = cells.map((cell, index) => {
    if (typeof cell === 'number')
      return `<c r="${columnName(index)}${row}" s="0"><v>${cell}</v></c>`;
    return `<c r="${columnName(index)}${row}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${escaped(cell)}</t></is></c>`;
  });
  return `<row r="${row}">${xml.join('')}</row>`;
}

/** `A`, `B` … `Z`, `AA` for a 0-based index. */
function columnName(index: number): string {
  const rest = Math.floor(index / 26);
  return (rest === 0 ? '' : columnName(rest - 1)) + String.fromCharCode(65 + (index % 26));
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Characters that XML cannot have or would change, and texts that look like their escape (ECMA-376 part 1, 22.9.2.19). */
const ESCAPED = /[[\p{Cc}--[\t\n]]\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)/gv;

function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(
      ESCAPED,
      (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    )
    .replace(/[&<>]/g, (character) => ENTITIES[character] ?? character);
}
