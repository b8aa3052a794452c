import { type Pick, type Table, withOneTyped } from './damages.ts';
import { besides, TABLE_LAYOUTS } from './layout-damages.ts';
import { rawWorkbook, row, textCell } from './raw-workbook.ts';

const FORMATS = ['yyyy-mm-dd', ';;;', '0" dozen"', '0,', '0%'];
const STRUCK = FORMATS.length + 1;
const MULTIPLIED = [3, 4, 5];

const sheet = (rows: string) => `<worksheet><sheetData>${rows}</sheetData></worksheet>`;
const book = (rows: string) => rawWorkbook([{ xml: sheet(rows) }], FORMATS);
const styled = (cell: string, style: number) =>
  cell.replace('<c ', `<c s="${style}" `).replace('<c>', `<c s="${style}">`);

/** A cell as people fill it: quantities as numbers, all else as text. */
function cellOf(text: string, column: number): string {
  if (text === '') return '<c/>';
  return column === 2 ? `<c><v>${text}</v></c>` : textCell(text);
}

function rowsOf({ rows }: Table): string[][] {
  return rows.map((cells) => cells.map(cellOf));
}

function written({ header }: Table, rows: readonly (readonly string[])[]): Buffer {
  return book([header.map(textCell), ...rows].map((cells) => row(cells.join(''))).join(''));
}

/** The workbook that is right. */
export function workbookOf(table: Table): Buffer {
  return written(table, rowsOf(table));
}

function inCell(
  table: Table,
  pick: Pick,
  column: number,
  change: (cell: string, text: string) => string,
): Buffer {
  const at = pick(table.rows.length);
  const rows = rowsOf(table);
  const cells = rows[at] ?? [];
  rows[at] = cells.with(column, change(cells[column] ?? '', table.rows[at]?.[column] ?? ''));
  return written(table, rows);
}

function withTexts(table: Table, change: (row: string[], i: number) => string[]): Buffer {
  return workbookOf({ ...table, rows: table.rows.map(change) });
}

type Damage = (table: Table, pick: Pick) => Buffer;

/** What happens to workbooks, by name. As in DAMAGES, nothing that nobody could notice. */
export const WORKBOOK_DAMAGES: Readonly<Record<string, Damage>> = {
  'cut anywhere': (table, pick) => {
    const bytes = workbookOf(table);
    return bytes.subarray(0, 4 + pick(bytes.length - 4));
  },
  'cut and filled with zeros': (table, pick) => {
    const bytes = workbookOf(table);
    return bytes.fill(0, 4 + pick(bytes.length - 4));
  },
  'with one byte changed': (table, pick) => {
    const bytes = workbookOf(table);
    const at = 4 + pick(bytes.length - 4);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << pick(8));
    return bytes;
  },
  'with its sheet cut within the archive': (table, pick) => {
    const xml = sheet(table.rows.map((cells) => row(cells.map(cellOf).join(''))).join(''));
    return rawWorkbook([{ xml: xml.slice(0, 1 + pick(xml.length - 1)) }]);
  },
  'with numbers merged into the first row': (table) =>
    withTexts(table, (cells, i) =>
      cells[0] === table.rows[i - 1]?.[0] ? cells.with(0, '') : cells,
    ),
  'with a hidden sheet of old orders': (table) =>
    rawWorkbook([
      {
        name: 'old',
        state: 'hidden',
        xml: sheet(row(table.header.map(textCell).join('')) + row('<c/>')),
      },
      {
        name: 'new',
        xml: sheet(
          [table.header.map(textCell), ...rowsOf(table)].map((one) => row(one.join(''))).join(''),
        ),
      },
    ]),
  'with two sheets': (table) =>
    rawWorkbook(
      ['a', 'b'].map((name) => ({
        name,
        xml: sheet(
          [table.header.map(textCell), ...rowsOf(table)].map((one) => row(one.join(''))).join(''),
        ),
      })),
    ),
  'with dates in place of articles': (table, pick) =>
    inCell(table, pick, 1, () => '<c s="1"><v>46347</v></c>'),
  'with a number that is not shown': (table, pick) =>
    inCell(table, pick, 0, (_, text) => `<c s="2"><v>${text.replace(/\D/g, '')}</v></c>`),
  'with a quantity that is not shown': (table, pick) =>
    inCell(table, pick, 2, (_, text) => `<c s="2"><v>${text}</v></c>`),
  'with a quantity struck through': (table, pick) =>
    inCell(table, pick, 2, (cell) => styled(cell, STRUCK)),
  'with an article struck through in part': (table, pick) =>
    inCell(
      table,
      pick,
      1,
      () => '<c t="inlineStr"><is><r><rPr><strike/></rPr><t>A-1 </t></r><r><t>A-2</t></r></is></c>',
    ),
  'with a quantity whose format multiplies it': (table, pick) =>
    inCell(table, pick, 2, (_, text) => {
      const number = text === '3' ? 7000 : 3000;
      return `<c s="${MULTIPLIED[pick(3)]}"><v>${pick(2) === 0 ? number : number / 1000}</v></c>`;
    }),
  'with an article struck through': (table, pick) =>
    inCell(table, pick, 1, (cell) => styled(cell, STRUCK)),
  'with a number in scientific notation': (table, pick) =>
    inCell(table, pick, 0, () => '<c><v>4.50001234567891E17</v></c>'),
  'with an article that is a fraction': (table, pick) =>
    inCell(table, pick, 1, () => '<c><v>12.5</v></c>'),
  'with an error in place of a value': (table, pick) =>
    inCell(table, pick, pick(3), () => '<c t="e"><v>#N/A</v></c>'),
  'with a truth in place of a value': (table, pick) =>
    inCell(table, pick, 2, () => '<c t="b"><v>1</v></c>'),
  'with a formula without a value': (table, pick) =>
    inCell(table, pick, pick(3), () => '<c><f>A1</f></c>'),
  'with a missing text': (table, pick) =>
    inCell(table, pick, pick(2), () => '<c t="s"><v>999</v></c>'),
  'with a cell too many': (table, pick) =>
    inCell(table, pick, pick(3), (cell) => `${textCell('x')}${cell}`),
  'with cells in a wrong order': (table, pick) =>
    inCell(table, pick, 2, (cell) => cell.replace('<c>', '<c r="A2">')),
  'with a fractional quantity': (table, pick) => inCell(table, pick, 2, () => '<c><v>1.5</v></c>'),
  'with a negative quantity': (table, pick) =>
    inCell(table, pick, 2, (_, text) => `<c><v>-${text}</v></c>`),
  'with a quantity of text and a unit': (table, pick) =>
    inCell(table, pick, 2, (_, text) => textCell(`${text} pcs`)),
  'with thousands as text': (table, pick) => inCell(table, pick, 2, () => textCell('1,000')),
  'with a hidden character': (table, pick) =>
    inCell(table, pick, pick(2), (_, text) => textCell(`${text}\u200b`)),
  'with letters taken apart (NFD)': (table) =>
    withTexts(table, (cells) => cells.map((cell) => cell.normalize('NFD'))),
  'with letters replaced by U+FFFD': (table) =>
    withTexts(table, (cells) => cells.map((cell) => cell.replace(/[^\0-\x7f]/g, '\ufffd'))),
  'encoded twice': (table) =>
    withTexts(table, (cells) => cells.map((cell) => Buffer.from(cell).toString('latin1'))),
  'with dashes in place of hyphens': (table) =>
    withTexts(table, (cells) => cells.map((cell) => cell.replaceAll('-', '–'))),
  'with a blank in a number': (table) =>
    workbookOf(withOneTyped(table, (text) => `${text.slice(0, 2)} ${text.slice(2)}`)),
  'with a line end in a number': (table, pick) =>
    inCell(table, pick, 0, (_, text) => textCell(`${text}\n1`)),
  'with a row copied below itself': (table, pick) => {
    const at = pick(table.rows.length);
    return workbookOf({ ...table, rows: table.rows.toSpliced(at, 0, [...(table.rows[at] ?? [])]) });
  },
  'with everything copied': (table) =>
    workbookOf({ ...table, rows: [...table.rows, table.header, ...table.rows] }),
  'sorted by article': (table) =>
    workbookOf({
      ...table,
      rows: table.rows.toSorted((a, b) => ((a[1] ?? '') < (b[1] ?? '') ? -1 : 1)),
    }),
  'in reverse': (table) => workbookOf({ ...table, rows: table.rows.toReversed() }),
  'with its columns moved': (table) => {
    const moved = (cells: readonly string[]) => [...cells.slice(1), ...cells.slice(0, 1)];
    return written({ ...table, header: moved(table.header) }, rowsOf(table).map(moved));
  },
  'with titles and a total': (table) => {
    const sum = table.rows.reduce((all, [, , quantity]) => all + Number(quantity), 0);
    const title = row(textCell('Purchase orders'));
    const body = [table.header.map(textCell), ...rowsOf(table)]
      .map((cells) => row(cells.join('')))
      .join('');
    return book(`${title}${body}${row(`<c/>${textCell('Total')}<c><v>${sum}</v></c>`)}`);
  },
  'with a wrong total': (table) =>
    written(table, [...rowsOf(table), ['<c/>', '<c/>', '<c><v>7</v></c>']]),
  'with a second table below': (table) => {
    const body = [table.header.map(textCell), ...rowsOf(table)]
      .map((cells) => row(cells.join('')))
      .join('');
    const other = ['article', 'name', 'stock'].map(textCell).join('');
    return book(
      `${body}${row(other, ` r="${table.rows.length + 4}"`)}${row(textCell('A-1') + textCell('B') + '<c><v>5</v></c>')}`,
    );
  },
  'with a column that differs in case': (table) =>
    written(
      { ...table, header: [...table.header, 'Quantity'] },
      rowsOf(table).map((cells) => [...cells, '<c><v>1</v></c>']),
    ),
  'with rows of one number': (table) =>
    book(
      [table.header.map(textCell), ...rowsOf(table)]
        .map((cells) => row(cells.join(''), ' r="1"'))
        .join(''),
    ),
  'with its second half beside the first': (table, pick) => workbookOf(besides(table, pick)),
  ...Object.fromEntries(
    Object.entries(TABLE_LAYOUTS).map(([name, layout]) => [
      name,
      (table: Table, pick: Pick) => workbookOf(layout(table, pick)),
    ]),
  ),
};
