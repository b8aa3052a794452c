import type { Records } from '../../src/mapping/read-records.ts';
import { jsonNumber } from '../../src/order/quantity.ts';
import type { OddCell, RawRecord, Row, Value } from '../../src/parse/record.ts';
import type { Cell, FileOf, Tree, Written } from './oracle.ts';

/** Rows of a page: few, so that orders go over the ends of pages. */
const PAGE = 3;

/** A file that is arrays in memory, as the readers of the formats would give it. */
export function recordsOf(file: FileOf, mapping: Written, isWorkbook: boolean): Records {
  const format =
    file.kind === 'objects' ? (file.xml ? 'xml' : 'json') : isWorkbook ? 'xlsx' : 'csv';
  const records: RawRecord[] =
    file.kind === 'objects' ? file.values.map(objectOf) : rowsOf(file, mapping);
  const rows = records.filter((record) => record.kind === 'row');
  return {
    format,
    stamp: { dev: 0n, ino: 0n, size: 1_000n, mtimeNs: 0n, ctimeNs: 0n },
    head: async (delimiter) =>
      delimiter === ','
        ? rows.slice(0, 50)
        : rows.slice(0, 50).map((row) => ({ ...row, cells: [row.cells.join(',')] })),
    async *records() {
      for (let at = 0; at < records.length; at += PAGE) yield records.slice(at, at + PAGE);
    },
    summary: () => ({
      format,
      sha256: '',
      bytes: 0,
      encoding: 'utf-8',
      gzip: false,
      isOpenEnded: false,
      beside: [],
      ...(isWorkbook && {
        workbook: { sheet: 'A', sheets: ['A'], hiddenRows: 0, hiddenColumns: [] },
      }),
    }),
  };
}

function rowsOf({ rows, open }: FileOf & { kind: 'table' }, { skipRows, lastRow }: Written): Row[] {
  return rows.map((cells, index) => {
    const odd: { [at: number]: OddCell } = {};
    for (const [at, cell] of cells.entries()) {
      const mark = markOf(cell);
      if (mark !== undefined) odd[at] = mark;
    }
    const texts = cells.map(({ text }) => text);
    return {
      kind: 'row',
      line: index + 1,
      cells: texts,
      ...((skipRows ?? lastRow) !== undefined && { written: texts.join(',') }),
      ...(Object.keys(odd).length > 0 && { odd }),
      ...(open && index === rows.length - 1 && { isOpen: true as const }),
    };
  });
}

function markOf({ kind, format = '', struck, text }: Cell): OddCell | undefined {
  const isStruck = struck && { isStruck: true as const };
  switch (kind) {
    case 'number':
      return { kind, format, ...isStruck };
    case 'date':
      return { kind, date: text, ...isStruck };
    case 'boolean':
    case 'error':
      return { kind, ...isStruck };
    default:
      return isStruck && { kind: 'text', ...isStruck };
  }
}

function objectOf(tree: Tree, index: number): RawRecord {
  return { kind: 'object', line: index + 1, pointer: `/${index}`, value: treeValue(tree) };
}

function treeValue(tree: Tree): Value {
  if (tree === null) return null;
  if (isList(tree)) return tree.map(treeValue);
  if (!isCell(tree))
    return Object.fromEntries(Object.entries(tree).map(([key, one]) => [key, treeValue(one)]));
  if (tree.kind === 'json') return jsonNumber(tree.text);
  return tree.kind === 'boolean' ? tree.text === 'true' : tree.text;
}

function isList(tree: Tree): tree is readonly Tree[] {
  return Array.isArray(tree);
}

function isCell(tree: Exclude<Tree, null | readonly Tree[]>): tree is Cell {
  return 'text' in tree && typeof tree.text === 'string';
}
