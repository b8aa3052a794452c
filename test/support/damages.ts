import { gzipSync } from 'node:zlib';
import { singleByteTable } from '../../src/parse/code-pages.ts';
import type { Encoding } from '../../src/parse/encoding.ts';

/** A correct table: the header, and rows of number, article, quantity and possibly a text. */
export type Table = { header: string[]; rows: string[][] };

/** Picks a whole number below `limit`. */
export type Pick = (limit: number) => number;

type Damage = (table: Table, pick: Pick) => string | Buffer;

export function csv({ header, rows }: Table, delimiter = ';', newline = '\n'): string {
  return [header, ...rows].map((row) => `${row.join(delimiter)}${newline}`).join('');
}

/**
 * What happens to files, by name. None of them takes away complete rows at the end or changes one value into another
 * plausible one: nobody could notice that.
 */
export const DAMAGES: Readonly<Record<string, Damage>> = {
  'cut anywhere': cut,
  'cut and filled with zeros': (table, pick) => {
    const bytes = Buffer.from(csv(table));
    return bytes.fill(0, Math.floor(bytes.length / 2) + pick(Math.floor(bytes.length / 2)));
  },
  'cut as a gzip': (table, pick) => {
    const packed = gzipSync(csv(table));
    return packed.subarray(0, 20 + pick(packed.length - 20));
  },
  'without its last line end': (table) => csv(table).slice(0, -1),
  'in Windows-1252': (table) => encoded(csv(table), 'windows-1252'),
  'in the DOS code page 850': (table) => encoded(csv(table), 'cp850'),
  'in the code page of old Macs': (table) => encoded(csv(table), 'macintosh'),
  'in UTF-16 with a mark': (table) => Buffer.from(`\ufeff${csv(table)}`, 'utf16le'),
  'in UTF-16 without a mark': (table) => Buffer.from(csv(table), 'utf16le').swap16(),
  'with a byte order mark': (table) => `\ufeff${csv(table)}`,
  'with one byte of another encoding': (table, pick) => {
    const bytes = Buffer.from(csv(table));
    bytes[60 + pick(bytes.length - 60)] = 0xe4;
    return bytes;
  },
  'with letters replaced by U+FFFD': (table) => csv(table).replace(/[^\0-\x7f]/g, '\ufffd'),
  'with letters taken apart (NFD)': (table) => csv(table).normalize('NFD'),
  'with CRLF': (table) => csv(table, ';', '\r\n'),
  'with CR': (table) => csv(table, ';', '\r'),
  'with line ends of all kinds': (table, pick) =>
    csv(table).replace(/\n/g, () => ['\n', '\r\n', '\r'][pick(3)] ?? '\n'),
  'with empty lines': (table) => csv(table).replaceAll('\n', '\n\n'),
  'with commas': (table) => csv(table, ','),
  'with tabs': (table) => csv(table, '\t'),
  'with every field in quotes': (table) => csv(mapped(table, (cell) => `"${cell}"`)),
  'with numbers merged into the first row': (table) =>
    csv(
      withRows(
        table,
        table.rows.map((row, i) => (row[0] === table.rows[i - 1]?.[0] ? with0(row, '') : row)),
      ),
    ),
  'with tabs behind some numbers': (table, pick) =>
    csv(
      withRows(
        table,
        table.rows.map((row) => (pick(2) === 0 ? with0(row, `${row[0]}\t`) : row)),
      ),
    ),
  'with a hidden character in a number': (table, pick) =>
    csv(inRow(table, pick, (row) => with0(row, `${row[0]?.slice(0, 2)}\u200b${row[0]?.slice(2)}`))),
  'with a soft hyphen in an article': (table, pick) =>
    csv(inRow(table, pick, (row) => row.with(1, `A\u00ad${row[1]}`))),
  'with a row copied below itself': (table, pick) => {
    const at = pick(table.rows.length);
    return csv(withRows(table, table.rows.toSpliced(at, 0, [...(table.rows[at] ?? [])])));
  },
  'with a row copied to the end': (table, pick) =>
    csv(withRows(table, [...table.rows, [...(table.rows[pick(table.rows.length)] ?? [])]])),
  'with everything copied': (table) => csv(table) + csv(table),
  'with everything copied below, without the header': (table) =>
    csv(withRows(table, [...table.rows, ...table.rows])),
  'sorted by article': (table) =>
    csv(
      withRows(
        table,
        table.rows.toSorted((a, b) => ((a[1] ?? '') < (b[1] ?? '') ? -1 : 1)),
      ),
    ),
  'in reverse': (table) => csv(withRows(table, table.rows.toReversed())),
  'with a delimiter lost': (table, pick) =>
    inLine(table, pick, (line, at) => withoutNth(line, ';', at)),
  'with a delimiter too many': (table, pick) =>
    inLine(
      table,
      pick,
      (line, at) => `${line.slice(0, at % line.length)};${line.slice(at % line.length)}`,
    ),
  'with a line end lost': (table, pick) => {
    const lines = csv(table).split('\n');
    const at = 1 + pick(lines.length - 2);
    return [...lines.slice(0, at), `${lines[at]}${lines[at + 1]}`, ...lines.slice(at + 2)].join(
      '\n',
    );
  },
  'with a line end too many': (table, pick) =>
    inLine(
      table,
      pick,
      (line, at) => `${line.slice(0, at % line.length)}\n${line.slice(at % line.length)}`,
    ),
  'with a stray quote': (table, pick) =>
    csv(inRow(table, pick, (row) => row.with(pick(row.length), '"19'))),
  'with two stray quotes': (table, pick) => {
    const column = pick(table.header.length);
    const first = pick(table.rows.length - 2);
    const quoted = table.rows.map((row, i) =>
      i === first
        ? row.with(column, `"${row[column]}`)
        : i === first + 2
          ? row.with(column, `${row[column]}"`)
          : row,
    );
    return csv(withRows(table, quoted));
  },
  'with its columns moved': (table) =>
    csv(withRows({ ...table, header: rotated(table.header) }, table.rows.map(rotated))),
  'with the cells of a row moved': (table, pick) =>
    // A number of digits is a plausible quantity, which nobody could notice.
    csv(/^\d/.test(table.rows[0]?.[0] ?? '') ? table : inRow(table, pick, rotated)),
  'with numbers in scientific notation': (table) =>
    csv(
      withRows(
        table,
        table.rows.map((row) =>
          with0(
            row,
            /^\d+$/.test(row[0] ?? '')
              ? Number(row[0]).toExponential(5).replace('e', 'E')
              : (row[0] ?? ''),
          ),
        ),
      ),
    ),
  'with errors of a spreadsheet': (table, pick) =>
    csv(
      inRow(table, pick, (row) =>
        row.with(pick(2), ['#N/A', '#WERT!', '#REF!', '#VALEUR!'][pick(4)] ?? ''),
      ),
    ),
  'with fractions added to articles': (table) =>
    csv(
      withRows(
        table,
        table.rows.map((row) =>
          row.with(1, /^\d+$/.test(row[1] ?? '') ? `${row[1]}.0` : (row[1] ?? '')),
        ),
      ),
    ),
  'with thousands in quantities': (table) =>
    csv(
      withRows(
        table,
        table.rows.map((row) => row.with(2, (row[2] ?? '').replace(/(\d)(\d{3})$/, '$1,$2'))),
      ),
    ),
  'with quantities in scientific notation': (table) =>
    csv(
      withRows(
        table,
        table.rows.map((row) => row.with(2, Number(row[2]).toExponential(1))),
      ),
    ),
  'with titles and a total': (table) =>
    `Purchase orders;;\n\n${csv(table)};Total;${table.rows.length}${';'.repeat(table.header.length - 3)}\n`,
  'with separator lines': (table) => csv(table).replaceAll('\n', '\n-----;-----\n'),
  'with a column that differs in case': (table) =>
    csv(
      withRows(
        { ...table, header: [...table.header, 'Quantity'] },
        table.rows.map((row) => [...row, '1']),
      ),
    ),
  'with a delimiter behind each row': (table) => csv(table).replaceAll('\n', ';\n'),
  'with a delimiter behind each row but the header': (table) =>
    csv(table).replace(/(?<=\n.*)\n/g, ';\n'),
  'with commas and a comma behind each row but the header': (table) =>
    csv(table, ',').replace(/(?<=\n.*)\n/g, ',\n'),
  'with a delimiter behind some rows': (table, pick) =>
    csv(table).replace(/\n/g, () => (pick(2) === 0 ? ';\n' : '\n')),
  'encoded twice': (table) => Buffer.from(csv(table)).toString('latin1'),
  'with question marks in place of letters': (table) => csv(table).replace(/[^\0-\x7f]/g, '?'),
  'with dashes in place of hyphens': (table) => csv(table).replaceAll('-', '–'),
  'with no-break spaces': (table) => csv(table).replaceAll(' ', '\u00a0'),
  'with digits of full width': (table, pick) => {
    const column = pick(3);
    const wide = (text = '') =>
      text.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)));
    return csv(inRow(table, pick, (row) => row.with(column, wide(row[column]))));
  },
  'with Cyrillic letters': (table) => csv(table).replaceAll('PO-', 'РO-').replaceAll('A-', 'Аx-'),
  'with escapes of HTML': (table) =>
    csv(
      mapped(table, (cell) => cell.replace(/[^\0-\x7f]/g, (one) => `&#${one.charCodeAt(0)};`)),
      ',',
    ),
  'with apostrophes before numbers': (table) =>
    csv(mapped(table, (cell) => (/^\d/.test(cell) ? `'${cell}` : cell))),
  'with curly quotes': (table) => csv(mapped(table, (cell) => `“${cell}”`)),
  'with dates in place of articles': (table) =>
    csv(mapped(table, (cell) => (cell === '1-2' ? '01. Feb' : cell))),
  'with a row commented out': (table, pick) => inLine(table, pick, (line) => `#${line}`),
  'with a number in another case': (table) =>
    csv(withOneTyped(table, (text) => text.toLowerCase())),
  'with a zero before a number': (table) => csv(withOneTyped(table, (text) => `0${text}`)),
  'with a blank in a number': (table) =>
    csv(withOneTyped(table, (text) => `${text.slice(0, 2)} ${text.slice(2)}`)),
  'with units in quantities': (table) =>
    csv(
      withRows(
        table,
        table.rows.map((row) => row.with(2, `${row[2]} pcs`)),
      ),
    ),
  'with a negative quantity': (table, pick) =>
    csv(
      inRow(table, pick, (row) =>
        row.with(2, [`-${row[2]}`, `(${row[2]})`, `${row[2]}-`][pick(3)] ?? ''),
      ),
    ),
  'with a second table below': (table) =>
    `${csv(table)}\narticle;name;stock${';'.repeat(table.header.length - 3)}\nA-1;Pump;5${';'.repeat(table.header.length - 3)}\n`,
  'with the mark of DOS at its end': (table) => `${csv(table)}\u001a`,
};

/**
 * Anywhere but behind a complete row, and only in a column that is sent: that the rows after a complete one are missing
 * cannot be noticed.
 */
function cut(table: Table, pick: Pick): Buffer {
  const sent = { header: table.header.slice(0, 3), rows: table.rows.map((row) => row.slice(0, 3)) };
  const bytes = Buffer.from(csv(sent));
  const at = 40 + pick(bytes.length - 40);
  return bytes.subarray(0, bytes[at - 1] === 10 ? at - 1 : at);
}

function encoded(text: string, encoding: Encoding): Buffer {
  const table = singleByteTable(encoding);
  return Buffer.from(Array.from(text, (character) => Math.max(0, table.indexOf(character))));
}

function mapped(table: Table, change: (cell: string) => string): Table {
  return withRows(
    table,
    table.rows.map((row) => row.map(change)),
  );
}

function withRows(table: Table, rows: string[][]): Table {
  return { ...table, rows };
}

function with0(row: string[], number: string): string[] {
  return row.with(0, number);
}

function inRow(table: Table, pick: Pick, change: (row: string[]) => string[]): Table {
  const at = pick(table.rows.length);
  return withRows(
    table,
    table.rows.map((row, i) => (i === at ? change(row) : row)),
  );
}

function inLine(table: Table, pick: Pick, change: (line: string, at: number) => string): string {
  const lines = csv(table).split('\n');
  const at = 1 + pick(table.rows.length);
  const place = pick(1000);
  return lines.map((line, i) => (i === at ? change(line, place) : line)).join('\n');
}

function withoutNth(line: string, delimiter: string, at: number): string {
  const parts = line.split(delimiter);
  const gap = at % (parts.length - 1);
  return [...parts.slice(0, gap), `${parts[gap]}${parts[gap + 1]}`, ...parts.slice(gap + 2)].join(
    delimiter,
  );
}

/** The number in one row of an order with several: that of an order with one row nobody could compare. */
export function withOneTyped(table: Table, change: (text: string) => string): Table {
  const at = table.rows.findIndex((row, i) => row[0] === table.rows[i + 1]?.[0]);
  const rows = table.rows.map((row, i) => (i === at ? row.with(0, change(row[0] ?? '')) : row));
  return { ...table, rows };
}

function rotated(cells: string[]): string[] {
  return [...cells.slice(1), ...cells.slice(0, 1)];
}
