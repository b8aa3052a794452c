import { csv, type Pick, type Table, withOneTyped } from './damages.ts';

/** As in DAMAGES: rows of a table to another table, which any writer can write. */
type Layout = (table: Table, pick: Pick) => Table;

const OFF = ['Cancelled', 'storniert', 'annulé', 'deleted'];
const MARKS = ['LOEKZ', 'deleted', 'cancelledAt'];

/** What people and programs do to a table that any form of file can contain: rows that nobody wants, cells for several. */
export const TABLE_LAYOUTS: Readonly<Record<string, Layout>> = {
  'with an order that a status calls off': (table, pick) =>
    withColumn(table, 'Status', 'Open', ['PO-900', 'A-1', '5'], OFF[pick(OFF.length)]),
  'with an item that a status calls off': (table, pick) =>
    withColumn(table, 'Status', '', [firstNumber(table), 'Z-9', '5'], OFF[pick(OFF.length)]),
  'with an order that a mark calls off': (table, pick) =>
    withColumn(table, MARKS[pick(MARKS.length)] ?? '', '', ['PO-900', 'A-1', '5'], 'X'),
  'with an item that a mark calls off': (table, pick) =>
    withColumn(table, MARKS[pick(MARKS.length)] ?? '', '', [firstNumber(table), 'Z-9', '5'], 'X'),
  'with an order that its number calls off': (table, pick) =>
    withRow(table, [`PO-900 (${OFF[pick(OFF.length)]})`, 'A-1', '5']),
  'with an item that its article calls off': (table, pick) =>
    withRow(table, [firstNumber(table), `Z-9 ${OFF[pick(OFF.length)]}`, '5']),
  'with two articles in a cell': (table, pick) =>
    inRow(table, pick, (row) =>
      row.with(1, ['A-1, A-2', 'PUMP-7 | PUMP-8', '47110 / 47112'][pick(3)] ?? ''),
    ),
  'with a count before an article': (table, pick) =>
    inRow(table, pick, (row) => row.with(1, '2x PUMP-7')),
  'with an article that another replaces': (table, pick) =>
    inRow(table, pick, (row) => row.with(1, ['A-1 -> A-2', 'A-1 replaced by A-2'][pick(2)] ?? '')),
  'with a number in another case and a blank': (table) =>
    withOneTyped(table, (text) => `${text.slice(0, 2).toLowerCase()} ${text.slice(2)}`),
  'with a copy that its number names': (table, pick) => {
    const [number = '', ...others] = table.rows[pick(table.rows.length)] ?? [];
    return withRows(table, [...table.rows, [`${number} (copy)`, ...others]]);
  },
};

/** What only tables have: others beside and below them. */
export const CSV_LAYOUTS: Readonly<Record<string, (table: Table, pick: Pick) => string | Buffer>> =
  {
    ...Object.fromEntries(
      Object.entries(TABLE_LAYOUTS).map(([name, layout]) => [
        name,
        (table: Table, pick: Pick) => csv(layout(table, pick), '\t'),
      ]),
    ),
    'with its second half beside the first': (table, pick) => csv(besides(table, pick)),
    'with two items in each row': (table) => csv(twoInEach(table)),
    'joined with a file of other columns': (table) => csv(table) + csv(rotated(table)),
    'joined with a file of other columns, below a gap': (table) =>
      `${csv(table)}\n${csv(rotated(table))}`,
    'joined with its rest in other columns': (table) => {
      const [first, second] = halves(table);
      return csv(first) + csv(rotated(second));
    },
    'joined with its rest by another delimiter': (table) => {
      const [first, second] = halves(table);
      return csv(first) + csv(second, ',');
    },
    'joined with other items of its orders by another delimiter': (table, pick) => {
      const rest = apart(table);
      return csv(rest[0], pick(2) === 0 ? ';' : '\t') + csv(rest[1], ',');
    },
    'joined with other items of its orders by another delimiter, without a header': (table) => {
      const [first, second] = apart(table);
      return csv(first) + csv(second, ',').replace(/^.*\n/, '');
    },
    'joined with other items of its orders, above and without our names': (table, pick) => {
      const [first, second] = apart(table);
      const names = table.header.map(
        (_, column) => ['Bestellung', 'Artikel', 'Menge', 'Text'][column] ?? '',
      );
      return (
        csv(pick(2) === 0 ? { ...first, header: names } : first).replace(
          pick(4) === 0 ? /^.*\n/ : /^$/,
          '',
        ) + csv(second)
      );
    },
    'joined with its rest as lines of JSON': (table) => {
      const [first, second] = halves(table);
      const lines = second.rows.map((row) =>
        JSON.stringify(Object.fromEntries(row.map((cell, i) => [table.header[i], cell]))),
      );
      return `${csv(first)}${lines.join('\n')}\n`;
    },
    'with one bit of its structure changed': (table, pick) =>
      withBitFlipped(csv(table), /[;\n]|(?<!\n.*)[a-z]/gi, pick),
  };

/**
 * One bit of a byte that separates values, or of the header, is another one. In a value it could make another plausible
 * one.
 */
export function withBitFlipped(text: string, structure: RegExp, pick: Pick): Buffer {
  const bytes = Buffer.from(text);
  const places = [...bytes.toString('latin1').matchAll(structure)];
  const at = places[pick(places.length)]?.index ?? 0;
  bytes[at] = (bytes[at] ?? 0) ^ (1 << pick(8));
  return bytes;
}

/** The rows below the middle of an order, to the right of those above it; `pick` chooses whether their columns have names. */
export function besides(table: Table, pick: Pick): Table {
  const [first, second] = halves(table);
  const width = table.header.length;
  const names = pick(2) === 0 ? table.header : Array<string>(width).fill('');
  const empty = Array<string>(width).fill('');
  const rows = Array.from({ length: Math.max(first.rows.length, second.rows.length) }, (_, i) => [
    ...(first.rows[i] ?? empty),
    '',
    ...(second.rows[i] ?? empty),
  ]);
  return { header: [...table.header, '', ...names], rows };
}

/** The table in two, in the middle of an order if one has several rows. */
function halves(table: Table): [Table, Table] {
  const inside = table.rows.findIndex((row, i) => i > 0 && row[0] === table.rows[i - 1]?.[0]);
  const at = inside < 0 ? Math.ceil(table.rows.length / 2) : inside;
  return [withRows(table, table.rows.slice(0, at)), withRows(table, table.rows.slice(at))];
}

/** The first rows of all orders, and the others. */
function apart(table: Table): [Table, Table] {
  const isFirst = ([number]: readonly string[], i: number) => number !== table.rows[i - 1]?.[0];
  return [
    withRows(table, table.rows.filter(isFirst)),
    withRows(
      table,
      table.rows.filter((row, i) => !isFirst(row, i)),
    ),
  ];
}

/** A row for each two items of an order. */
function twoInEach({ header, rows }: Table): Table {
  const wide: string[][] = [];
  for (const row of rows) {
    const last = wide.at(-1);
    const isSecond = last?.[0] === row[0] && last?.length === header.length;
    if (isSecond) last?.push(row[1] ?? '', row[2] ?? '');
    else wide.push([...row]);
  }
  const width = header.length + 2;
  return {
    header: [...header, 'articleCode2', 'quantity2'],
    rows: wide.map((row) => [...row, ...Array<string>(width - row.length).fill('')]),
  };
}

function rotated({ header, rows }: Table): Table {
  const turn = ([first = '', ...others]: string[]) => [...others, first];
  return { header: turn(header), rows: rows.map(turn) };
}

function firstNumber({ rows }: Table): string {
  return rows[0]?.[0] ?? '';
}

/** A further row with this value in a further column, in which all others have `usual`. */
function withColumn(
  { header, rows }: Table,
  name: string,
  usual: string,
  row: string[],
  value = '',
): Table {
  const padding = Array<string>(header.length - row.length).fill('');
  return {
    header: [...header, name],
    rows: [...rows.slice(0, 1), [...row, ...padding, value], ...rows.slice(1)].map((one) =>
      one.length > header.length ? one : [...one, usual],
    ),
  };
}

function withRow(table: Table, row: string[]): Table {
  const padding = Array<string>(table.header.length - row.length).fill('');
  return withRows(table, table.rows.toSpliced(1, 0, [...row, ...padding]));
}

function withRows(table: Table, rows: string[][]): Table {
  return { ...table, rows };
}

function inRow(table: Table, pick: Pick, change: (row: string[]) => string[]): Table {
  const at = pick(table.rows.length);
  return withRows(
    table,
    table.rows.map((row, i) => (i === at ? change(row) : row)),
  );
}
