import { open } from 'node:fs/promises';

/** A kind of file that may be of any size: its text, piece by piece, for about so many rows. */
export type LargeKind = keyof typeof KINDS;

const HEADER = 'purchaseOrderNumber,orderState,articleCode,quantity\n';
/** Rows made in one piece. */
const PIECE = 2_000;
/** A prime, so that no order has an article twice: a second quantity for it would hold the order. */
const ARTICLES = 1_000_003;
/** Rows of a long order. */
const LONG = 10_000;

type Kind = {
  text: (rows: number) => Iterable<string>;
  /** The result of both passes. */
  becomes: (rows: number) => { orders: number; valid: number } | { code: string; line?: number };
};

const TOO_LARGE = 'unreadable-too-large';
const INCOMPLETE = 'unreadable-incomplete';
const all = (orders: number) => ({ orders, valid: orders });

const KINDS = {
  'rows of one order together': {
    text: (rows) => table(rows, (row) => row >> 1),
    becomes: (rows) => all(rows / 2),
  },
  'rows of one order far apart': {
    text: (rows) => table(rows, (row) => row % (rows / 2)),
    becomes: (rows) => all(rows / 2),
  },
  'long orders, their rows together': {
    text: (rows) => table(rows, (row) => Math.floor(row / LONG)),
    becomes: (rows) => all(rows / LONG),
  },
  'long orders, their rows far apart': {
    text: (rows) => table(rows, (row) => row % (rows / LONG)),
    becomes: (rows) => all(rows / LONG),
  },
  'every row wrong': {
    text: (rows) => table(rows, (row) => row, 'none'),
    becomes: (rows) => ({ orders: rows, valid: 0 }),
  },
  'JSON on a single line': {
    text: (rows) => json(rows, '[', ',', ']'),
    becomes: (rows) => all(rows / 2),
  },
  'an object holding an array, on a single line': {
    text: (rows) => json(rows, '{"value":[', ',', ']}'),
    becomes: (rows) => all(rows / 2),
  },
  NDJSON: { text: (rows) => json(rows, '', '\n', '\n'), becomes: (rows) => all(rows / 2) },
  'a quote that is never closed': { text: unclosed, becomes: () => ({ code: TOO_LARGE, line: 3 }) },
  'a JSON text that never ends': {
    text: (rows) => endless('[{"purchaseOrderNumber":"', 'x'.repeat(50), rows),
    becomes: () => ({ code: INCOMPLETE, line: 1 }),
  },
  'a JSON number that never ends': {
    text: (rows) => endless('[{"purchaseOrderNumber":', '1'.repeat(50), rows),
    becomes: () => ({ code: INCOMPLETE, line: 1 }),
  },
  'nothing but line ends': {
    text: (rows) => endless(HEADER, '\n'.repeat(50), rows),
    becomes: () => all(0),
  },
  'nothing but delimiters': {
    text: (rows) => endless(HEADER, ','.repeat(50), rows),
    becomes: () => ({ code: TOO_LARGE, line: 2 }),
  },
  'nothing but zeros': {
    text: (rows) => endless('', '\0'.repeat(50), rows),
    becomes: () => ({ code: INCOMPLETE }),
  },
} as const satisfies Record<string, Kind>;

export const LARGE_KINDS = Object.keys(KINDS) as LargeKind[];

/** What both passes make of such a file of so many rows. */
export function outcomeOf(kind: LargeKind, rows: number): object {
  return KINDS[kind].becomes(rows);
}

/** Writes one with a few tens of bytes for each row; gives its size. */
export async function writeLarge(file: string, kind: LargeKind, rows: number): Promise<number> {
  await using handle = await open(file, 'w');
  for (const piece of KINDS[kind].text(rows)) await handle.writeFile(piece);
  return (await handle.stat()).size;
}

function* table(
  rows: number,
  numberOf: (row: number) => number,
  quantity?: string,
): Generator<string> {
  yield HEADER;
  yield* pieces(rows, (row) => {
    const number = String(numberOf(row)).padStart(8, '0');
    return `PO-2026-${number},NEW,ART-${row % ARTICLES},${quantity ?? 1 + (row % 90)}\n`;
  });
}

function* json(rows: number, begin: string, between: string, end: string): Generator<string> {
  yield begin;
  yield* pieces(rows / 2, (row) => {
    const items = `{"articleCode":"A-${row % 5_000}","quantity":1},{"articleCode":"B","quantity":${1 + (row % 90)}}`;
    return `${row === 0 ? '' : between}{"purchaseOrderNumber":"PO-${row}","orderState":"NEW","items":[${items}]}`;
  });
  yield end;
}

function* unclosed(rows: number): Generator<string> {
  yield `${HEADER}1,NEW,A,1\n2,NEW,"A,1\n`;
  yield* pieces(rows, (row) => `PO-2026-${row},NEW,ART-${row % 5_000},1\n`);
}

function* endless(begin: string, piece: string, rows: number): Generator<string> {
  yield begin;
  yield* pieces(rows, () => piece);
}

function* pieces(count: number, make: (index: number) => string): Generator<string> {
  for (let at = 0; at < count; at += PIECE) {
    const length = Math.min(PIECE, count - at);
    yield Array.from({ length }, (_, i) => make(at + i)).join('');
  }
}
