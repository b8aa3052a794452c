import { gzipSync } from 'node:zlib';
import type { Pick, Table } from './damages.ts';
import { TABLE_LAYOUTS, withBitFlipped } from './layout-damages.ts';

/** A way to write a table as objects. `isFlat`: one object for each row; `hasEnd`: a cut at any place can be noticed. */
export type Writer = { write(table: Table): string; isFlat: boolean; hasEnd: boolean };

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const objects = ({ header, rows }: Table) =>
  rows.map((row) => Object.fromEntries(header.map((name, column) => [name, row[column] ?? ''])));

/** Rows of one number that follow each other, as an order with items. */
function nested({
  header,
  rows,
}: Table): { purchaseOrderNumber: string; items: Record<string, string>[] }[] {
  const orders: { purchaseOrderNumber: string; items: Record<string, string>[] }[] = [];
  for (const [number = '', ...rest] of rows) {
    const item = Object.fromEntries(rest.map((value, column) => [header[column + 1] ?? '', value]));
    const last = orders.at(-1);
    if (last?.purchaseOrderNumber === number) last.items.push(item);
    else orders.push({ purchaseOrderNumber: number, items: [item] });
  }
  return orders;
}

const element = (name: string, text: string) => `<${name}>${escaped(text)}</${name}>`;
const elements = (value: Record<string, string>) =>
  Object.entries(value)
    .map(([name, text]) => element(name, text))
    .join('');

/** Every form of objects that a file may have. */
export const WRITERS: Readonly<Record<string, Writer>> = {
  'a JSON array of rows': {
    write: (table) =>
      `[\n${objects(table)
        .map((one) => JSON.stringify(one))
        .join(',\n')}\n]\n`,
    isFlat: true,
    hasEnd: true,
  },
  'a JSON object that holds rows': {
    write: (table) => JSON.stringify({ at: 'x', value: objects(table) }, null, 2),
    isFlat: true,
    hasEnd: true,
  },
  'rows as lines of JSON': {
    write: (table) =>
      objects(table)
        .map((one) => `${JSON.stringify(one)}\n`)
        .join(''),
    isFlat: true,
    hasEnd: false,
  },
  'a JSON array of orders': {
    write: (table) => JSON.stringify(nested(table), null, 1),
    isFlat: false,
    hasEnd: true,
  },
  'XML rows of elements': {
    write: (table) =>
      `<?xml version="1.0"?>\n<rows>\n${objects(table)
        .map((one) => `<row>${elements(one)}</row>\n`)
        .join('')}</rows>\n`,
    isFlat: true,
    hasEnd: true,
  },
  'XML rows of attributes': {
    write(table) {
      const row = (one: Record<string, string>) =>
        `  <row ${Object.entries(one)
          .map(([name, text]) => `${name}="${escaped(text)}"`)
          .join(' ')}/>\n`;
      return `<x:rows xmlns:x="urn:x">\n${objects(table).map(row).join('')}</x:rows>\n`;
    },
    isFlat: true,
    hasEnd: true,
  },
  'XML orders': {
    write: (table) =>
      `<orders>${nested(table)
        .map(({ purchaseOrderNumber, items }) => {
          const list = items.map((item) => `<item>${elements(item)}</item>\n`).join('');
          return `<order>\n${element('purchaseOrderNumber', purchaseOrderNumber)}<items>\n${list}</items></order>\n`;
        })
        .join('')}</orders>`,
    isFlat: false,
    hasEnd: true,
  },
};

type Damage = {
  /** Only a row can have it: an object with items is complete in itself. */
  flatOnly?: true;
  /** The file ends where nothing shows it. */
  needsEnd?: true;
  /** One value becomes another plausible one in some forms. */
  notIn?: RegExp;
  of(write: (table: Table) => string, table: Table, pick: Pick): string | Buffer;
};

const withRows = (table: Table, rows: string[][]): Table => ({ ...table, rows });

function inRow(table: Table, pick: Pick, change: (row: string[]) => string[]): Table {
  const at = pick(table.rows.length);
  return withRows(
    table,
    table.rows.map((row, i) => (i === at ? change(row) : row)),
  );
}

/** Takes away one occurrence of a text, or puts another one there. */
function lose(text: string, found: RegExp, pick: Pick, instead = ''): string {
  const places = [...text.matchAll(found)];
  const place = places[pick(places.length)];
  return place === undefined
    ? text
    : text.slice(0, place.index) + instead + text.slice(place.index + place[0].length);
}

/** What happens to files of objects, by name. As in DAMAGES, nothing that nobody could notice. */
export const OBJECT_DAMAGES: Readonly<Record<string, Damage>> = {
  'cut anywhere': {
    needsEnd: true,
    of(write, table, pick) {
      const bytes = Buffer.from(write(table).trimEnd());
      return bytes.subarray(0, 1 + pick(bytes.length - 1));
    },
  },
  'cut and filled with zeros': {
    needsEnd: true,
    of(write, table, pick) {
      const bytes = Buffer.from(write(table).trimEnd());
      return bytes.fill(0, 1 + pick(bytes.length - 1));
    },
  },
  'cut as a gzip': {
    of(write, table, pick) {
      const packed = gzipSync(write(table));
      return packed.subarray(0, 20 + pick(packed.length - 20));
    },
  },
  'in Windows-1252': { of: (write, table) => Buffer.from(write(table), 'latin1') },
  'in UTF-16 with a mark': {
    of: (write, table) => Buffer.from(`\ufeff${write(table)}`, 'utf16le'),
  },
  'in UTF-16 without a mark': {
    of: (write, table) => Buffer.from(write(table), 'utf16le').swap16(),
  },
  'with a byte order mark': { of: (write, table) => `\ufeff${write(table)}` },
  'with one byte of another encoding': {
    of(write, table, pick) {
      const bytes = Buffer.from(write(table));
      bytes[60 + pick(bytes.length - 60)] = 0xe4;
      return bytes;
    },
  },
  'with letters replaced by U+FFFD': {
    of: (write, table) => write(table).replace(/[^\0-\x7f]/g, '\ufffd'),
  },
  'with letters taken apart (NFD)': { of: (write, table) => write(table).normalize('NFD') },
  'with CRLF': { of: (write, table) => write(table).replaceAll('\n', '\r\n') },
  'with CR': { of: (write, table) => write(table).replaceAll('\n', '\r') },
  'with a line end in a number': {
    flatOnly: true,
    // An attribute cannot have one: XML makes it a space.
    notIn: /attributes/,
    of: (write, table, pick) => write(inRow(table, pick, (row) => row.with(0, `A\n${row[0]}`))),
  },
  'with a line end in an article': {
    notIn: /attributes/,
    of: (write, table, pick) => write(inRow(table, pick, (row) => row.with(1, `A\n${row[1]}`))),
  },
  'with numbers merged into the first row': {
    flatOnly: true,
    of: (write, table) =>
      write(
        withRows(
          table,
          table.rows.map((row, i) => (row[0] === table.rows[i - 1]?.[0] ? row.with(0, '') : row)),
        ),
      ),
  },
  'with tabs behind some numbers': {
    of: (write, table, pick) =>
      write(
        withRows(
          table,
          table.rows.map((row) => (pick(2) === 0 ? row.with(0, `${row[0]}\t`) : row)),
        ),
      ),
    flatOnly: true,
  },
  'with a hidden character in a number': {
    flatOnly: true,
    of: (write, table, pick) =>
      write(
        inRow(table, pick, (row) => row.with(0, `${row[0]?.slice(0, 2)}\u200b${row[0]?.slice(2)}`)),
      ),
  },
  'with a soft hyphen in an article': {
    of: (write, table, pick) => write(inRow(table, pick, (row) => row.with(1, `A\u00ad${row[1]}`))),
  },
  'with a row copied below itself': {
    flatOnly: true,
    of(write, table, pick) {
      const at = pick(table.rows.length);
      return write(withRows(table, table.rows.toSpliced(at, 0, [...(table.rows[at] ?? [])])));
    },
  },
  'with a row copied to the end': {
    flatOnly: true,
    of: (write, table, pick) =>
      write(withRows(table, [...table.rows, [...(table.rows[pick(table.rows.length)] ?? [])]])),
  },
  'with all rows copied below': {
    of: (write, table) => write(withRows(table, [...table.rows, ...table.rows])),
  },
  'with everything copied': { of: (write, table) => write(table) + write(table) },
  'sorted by article': {
    of: (write, table) =>
      write(
        withRows(
          table,
          table.rows.toSorted((a, b) => ((a[1] ?? '') < (b[1] ?? '') ? -1 : 1)),
        ),
      ),
  },
  'in reverse': { of: (write, table) => write(withRows(table, table.rows.toReversed())) },
  'with a quote lost': { of: (write, table, pick) => lose(write(table), /"/g, pick) },
  'with a quote too many': {
    of: (write, table, pick) => lose(write(table), /(?<=[A-Za-z0-9])(?=["<])/g, pick, '"'),
    notIn: /XML rows of el|XML ord/,
  },
  'with a bracket lost': { of: (write, table, pick) => lose(write(table), /[[\]{}<>]/g, pick) },
  'with a comma or a slash lost': {
    of: (write, table, pick) => lose(write(table), /(?<=["}]),(?=[\s"{])|(?<=<)\/|\/(?=>)/g, pick),
  },
  'with two objects run together': {
    of: (write, table, pick) =>
      lose(write(table), /\},?\s*\{|<\/row>\s*<row>|\/>\s*<row|<\/order>\s*<order>/g, pick, ' '),
  },
  'with an end tag lost': {
    of: (write, table, pick) => lose(write(table), /<\/[a-zA-Z:]+>/g, pick),
  },
  'with a key that differs in case': {
    of: (write, table) =>
      write(
        withRows(
          { ...table, header: [...table.header, 'Quantity'] },
          table.rows.map((row) => [...row, '1']),
        ),
      ),
  },
  'with a key twice': {
    of: (write, table) =>
      write(table)
        .replace(/"quantity":/, '"quantity":"1","quantity":')
        .replace('<quantity>', '<quantity>1</quantity><quantity>'),
  },
  'with its keys moved': {
    flatOnly: true,
    // A number of digits is a plausible quantity, which nobody could notice.
    of: (write, table, pick) =>
      write(
        /^\d/.test(table.rows[0]?.[0] ?? '')
          ? table
          : inRow(table, pick, (row) => [...row.slice(1), row[0] ?? '']),
      ),
  },
  'with numbers in scientific notation': {
    of: (write, table) =>
      write(
        withRows(
          table,
          table.rows.map((row) =>
            row.with(
              0,
              /^\d+$/.test(row[0] ?? '')
                ? Number(row[0]).toExponential(5).replace('e', 'E')
                : (row[0] ?? ''),
            ),
          ),
        ),
      ),
  },
  'with errors of a spreadsheet': {
    of: (write, table, pick) =>
      write(
        inRow(table, pick, (row) =>
          row.with(1, ['#N/A', '#WERT!', '#REF!', '#VALEUR!'][pick(4)] ?? ''),
        ),
      ),
  },
  'with thousands in quantities': {
    of: (write, table) =>
      write(
        withRows(
          table,
          table.rows.map((row) => row.with(2, (row[2] ?? '').replace(/(\d)(\d{3})$/, '$1,$2'))),
        ),
      ),
  },
  'with quantities as numbers': {
    of: (write, table) => write(table).replaceAll(/("quantity": ?)"(\d+)"/g, '$1$2'),
  },
  'with numbers as numbers': {
    // Leading zeros cannot be written.
    of: (write, table) =>
      write(table).replaceAll(/("(?:purchaseOrderNumber|articleCode)": ?)"(\d+)"/g, '$1$2'),
  },
  'with fractions': {
    of: (write, table) => write(table).replaceAll(/("quantity": ?)"(\d+)"/g, '$1$2.5'),
  },
  'with a value that is a list': {
    of: (write, table, pick) => lose(write(table), /(?<=: ?)"[^"]*"(?=[,}\s])/g, pick, '["1","2"]'),
  },
  'with null in place of a value': {
    flatOnly: true,
    of: (write, table, pick) => lose(write(table), /(?<=: ?)"[^"]*"(?=[,}\s])/g, pick, 'null'),
  },
  'with something else between the objects': {
    of: (write, table, pick) =>
      lose(write(table), /(?<=\},?\n)|(?<=<\/row>\n)|(?<=\/>\n)/g, pick, 'x'),
  },
  'with a comment of an unknown entity': {
    of: (write, table, pick) => lose(write(table), /(?<=<quantity>)/g, pick, '&unknown;'),
  },
  'with a document type': {
    of: (write, table) => write(table).replace(/<(?=rows|x:rows|orders)/, '<!DOCTYPE rows><'),
  },
  'with one bit of its structure changed': {
    of: (write, table, pick) => withBitFlipped(write(table), /[[\]{}:,"<>=\n]/g, pick),
  },
  ...Object.fromEntries(
    Object.entries(TABLE_LAYOUTS).map(([name, layout]): [string, Damage] => [
      name,
      { of: (write, table, pick) => write(layout(table, pick)) },
    ]),
  ),
};
