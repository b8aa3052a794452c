import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { DeadLetter, LetterRow } from '../order/dead-letter.ts';
import { LIMITS } from '../order/limits.ts';
import type { FileShape } from '../order/record.ts';
import { asText } from '../order/sentence.ts';
import { problemsText } from '../wording/problem.ts';
import { columnNames, problemsOf, type RowProblems } from './letter-rows.ts';

/** The workbook in the folder of a report with the rows of its open dead letters. */
export const FIX_WORKBOOK = 'fix.xlsx';

/** The columns that follow those of the file. */
const FIX_COLUMNS = ['_problem', '_do', '_id'] as const;

/** Rows of a workbook, and characters of a cell that Excel can open. */
const MOST_ROWS = 50_000;
const LONGEST_CELL = 32_767;

/** All entries have the same time, so equal rows give equal bytes. */
const MODIFIED = new Date('2000-01-01T00:00:00Z');

type Letters = () => AsyncIterable<DeadLetter> | Iterable<DeadLetter>;

/** Open dead letters whose files have the same form. `letters` is read twice where the rows of each may have other columns. */
export type FixSheet = { letters: Letters; shape: Pick<FileShape, 'header' | 'items'> };

/**
 * The bytes of a workbook with the rows of open dead letters, whose cells are all text, so that a spreadsheet changes none
 * of them. The cells to correct are marked.
 */
export async function* fixWorkbook(sheets: readonly FixSheet[]): AsyncGenerator<Buffer> {
  const zip = new ZipFile();
  for (const part of fixedParts(sheets.length))
    zip.addBuffer(Buffer.from(part.xml), part.name, { mtime: MODIFIED });
  const failed = new Promise<never>((_, reject) => {
    zip.once('error', reject);
    for (const [i, { letters, shape }] of sheets.entries()) {
      const sheet = Readable.from(sheetXml(letters, shape), { objectMode: false });
      sheet.once('error', reject);
      zip.addReadStream(sheet, sheetPart(i + 1), { mtime: MODIFIED });
    }
  });
  failed.catch(() => undefined);
  zip.end();
  const chunks = Readable.from(zip.outputStream)[Symbol.asyncIterator]();
  // yazl does not end its output when the rows cannot be read.
  for (;;) {
    const next = await Promise.race([chunks.next(), failed]);
    if (next.done) return;
    yield next.value as Buffer;
  }
}

/** The columns of all rows, in the order in which they occur first. */
async function columnsOf(letters: Letters): Promise<string[]> {
  const names = new Set<string>();
  for await (const { rows = [] } of letters())
    for (const { cells } of rows) for (const name of Object.keys(cells)) names.add(name);
  return [...names].slice(0, LIMITS.columns);
}

/** The sheet piece by piece, up to the last dead letter that fits completely. */
async function* sheetXml(
  letters: Letters,
  shape: Pick<FileShape, 'header' | 'items'>,
): AsyncGenerator<string> {
  const columns = shape.header ? columnNames(shape.header) : await columnsOf(letters);
  const header = [...columns, ...FIX_COLUMNS];
  yield sheetStart(header);
  const size = { rows: 1, bytes: 0 };
  for await (const letter of letters()) {
    const { rows = [] } = letter;
    const found = problemsOf(letter, shape);
    const xml = rows.map((row, i) =>
      letterRowXml(letter, row, found(row), columns, size.rows + i + 1),
    );
    const bytes = xml.reduce((sum, text) => sum + Buffer.byteLength(text), size.bytes);
    if (size.rows + rows.length > MOST_ROWS || bytes > LIMITS.workbookInflatedBytes) break;
    if (rows.some(({ cells }) => Object.values(cells).some((cell) => cell.length > LONGEST_CELL)))
      continue;
    size.rows += rows.length;
    size.bytes = bytes;
    yield* xml;
  }
  const name = columnName(header.indexOf('_do'));
  const choice = `<dataValidations count="1"><dataValidation type="list" allowBlank="1" sqref="${name}2:${name}${size.rows}"><formula1>"send,discard"</formula1></dataValidation></dataValidations>`;
  yield SHEET_END.replace('</worksheet>', `${size.rows > 1 ? choice : ''}$&`);
}

function letterRowXml(
  letter: DeadLetter,
  row: LetterRow,
  problems: RowProblems,
  columns: readonly string[],
  at: number,
): string {
  const { id, revision } = letter;
  const texts = columns.map((name) => {
    const isMarked = problems.of(name).length > 0;
    return cellXml(row.cells[name] ?? '', isMarked ? MARKED : TEXT);
  });
  const last = [sentenceOf(letter, row, problems, columns), '', `${id}.${row.row}@${revision}`];
  return rowXml([...texts, ...last.map((text) => cellXml(text, TEXT))], at);
}

/** What is wrong with a row; what is wrong with its order is in the first one. */
function sentenceOf(
  { kind, message, problems = [], purchaseOrderNumber: number }: DeadLetter,
  { row }: LetterRow,
  { of, whole }: RowProblems,
  columns: readonly string[],
): string {
  const own = [...columns.flatMap(of), ...whole];
  if (own.length > 0) return asText(problemsText(own)).slice(0, LONGEST_CELL);
  if (row === 1 && (kind !== 'invalid' || problems.length === 0))
    return asText(message).slice(0, LONGEST_CELL);
  return `part of order ${number}`.trim();
}

/** A sheet's name within the package of a workbook. */
const sheetPart = (sheet: number) => `xl/worksheets/sheet${sheet}.xml`;

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** Number format 49 is `@`: text (ECMA-376 part 1, 18.8.30). All styles have it, the header in bold, marked cells with a fill. */
const STYLES = `${XML}<styleSheet xmlns="${MAIN}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill><fill><patternFill patternType="solid"><fgColor rgb="FFFFE699"/></patternFill></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4"><xf/><xf numFmtId="49" applyNumberFormat="1"/><xf numFmtId="49" fontId="1" applyNumberFormat="1" applyFont="1"/><xf numFmtId="49" fillId="2" applyNumberFormat="1" applyFill="1"/></cellXfs></styleSheet>`;
const [TEXT, BOLD, MARKED] = [1, 2, 3] as const;

/** The parts of a workbook with so many sheets, without the sheets. */
function fixedParts(count: number): { name: string; xml: string }[] {
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const all = Array.from({ length: count }, (_, i) => i + 1);
  const each = (xml: (sheet: number) => string) => all.map(xml).join('');
  return [
    {
      name: '[Content_Types].xml',
      xml: `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/>${each((sheet) => `<Override PartName="/${sheetPart(sheet)}" ContentType="${type}.worksheet+xml"/>`)}<Override PartName="/xl/styles.xml" ContentType="${type}.styles+xml"/></Types>`,
    },
    {
      name: '_rels/.rels',
      xml: `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    },
    {
      name: 'xl/workbook.xml',
      xml: `${XML}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${each((sheet) => `<sheet name="Orders to correct${sheet > 1 ? ` ${sheet}` : ''}" sheetId="${sheet}" r:id="rId${sheet}"/>`)}</sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      xml: `${XML}<Relationships xmlns="${PACKAGE}/relationships">${each((sheet) => `<Relationship Id="rId${sheet}" Type="${OFFICE}/worksheet" Target="worksheets/sheet${sheet}.xml"/>`)}<Relationship Id="rId${count + 1}" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
    },
    { name: 'xl/styles.xml', xml: STYLES },
  ];
}

/** The sheet up to its header row, which stays visible. New cells are text too. */
function sheetStart(header: readonly string[]): string {
  const columns = header.map((name, index) => {
    const width = name === '_problem' ? 80 : Math.min(Math.max(name.length + 2, 14), 40);
    return `<col min="${index + 1}" max="${index + 1}" width="${width}" style="${TEXT}" customWidth="1"/>`;
  });
  const pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
  const views = `<sheetViews><sheetView workbookViewId="0">${pane}</sheetView></sheetViews>`;
  const names = header.map((name) => cellXml(name, BOLD));
  return `${XML}<worksheet xmlns="${MAIN}">${views}<cols>${columns.join('')}</cols><sheetData>${rowXml(names, 1)}`;
}

const SHEET_END = '</sheetData></worksheet>';

type CellXml = (address: string) => string;

function cellXml(text: string, style: number): CellXml {
  return (address) =>
    `<c r="${address}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`;
}

/** `row` is 1-based. */
function rowXml(cells: readonly CellXml[], row: number): string {
  return `<row r="${row}">${cells.map((cell, index) => cell(`${columnName(index)}${row}`)).join('')}</row>`;
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
