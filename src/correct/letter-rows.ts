import { find, isObject, setAt, stepsOf, valueAt } from '../mapping/find-key.ts';
import type { DeadLetter, LetterRow } from '../order/dead-letter.ts';
import type { CheckedOrder } from '../order/order.ts';
import type { Problem } from '../order/problem.ts';
import { jsonNumber, parseExactly, sourceOfNumber } from '../order/quantity.ts';
import type { FileShape, Place, SourceRecord } from '../order/record.ts';
import { pointerStep } from '../order/text.ts';

/** Levels of nesting that are shown; deeper values stay as they are. */
const DEEPEST = 8;

/** The names of the columns of a table, each once: one without a name is called by its position. */
export function columnNames(header: readonly string[]): string[] {
  const known = new Set<string>();
  return header.map((text, index) => {
    const name = text.trim() || `column ${index + 1}`;
    const own = known.has(name) ? `${name} (column ${index + 1})` : name;
    known.add(own);
    return own;
  });
}

/** The rows of an order as a report keeps them, and as a person corrects them. */
export function letterRows(
  { records }: Pick<CheckedOrder, 'records'>,
  { problems = [] }: Pick<DeadLetter, 'problems'>,
  { header = [], items = [] }: Pick<FileShape, 'header' | 'items'>,
): LetterRow[] {
  const names = columnNames(header);
  const rows = records.flatMap((record): Omit<LetterRow, 'row'>[] => {
    const { line, pointer = '' } = record.place;
    if (record.kind === 'row') return [{ line, cells: cellsOf(record.cells, names) }];
    const { value } = record;
    const flat = flatten(value, items, problemPointers(record, problems));
    return flat.map((cells, index) => {
      const texts = Object.fromEntries([...cells].map(([name, { text }]) => [name, text]));
      return { line, cells: texts, ...(index === 0 && { pointer, value }) };
    });
  });
  return rows.map((row, index) => ({ row: index + 1, ...row }));
}

function cellsOf(cells: readonly string[], names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    cells.map((cell, index) => [names[index] ?? `column ${index + 1}`, cell]),
  );
}

/** The cells of a row of a table as they were read. */
export function readCells(cells: LetterRow['cells'], names: readonly string[]): string[] {
  const own = names.filter((name) => name in cells);
  const known = new Set(names);
  const surplus = Object.keys(cells).filter((name) => !known.has(name));
  return [...own, ...surplus].map((name) => cells[name] ?? '');
}

/** The cells of a row of a table, without the empty ones behind the last column. */
export function tableCells(cells: LetterRow['cells'], header: readonly string[]): string[] {
  const names = columnNames(header);
  const own = names.map((name) => cells[name] ?? '');
  const known = new Set(names);
  const surplus = Object.entries(cells).filter(([name, cell]) => !known.has(name) && cell !== '');
  return [...own, ...surplus.map(([, cell]) => cell)];
}

/** A value of an object: its JSON pointer within the object, and its text. */
type Leaf = { pointer: string; text: string };

/** The rows of an object, one for each item, with its values by the names of their paths. `also`: pointers of values that it lacks. */
export function flatten(
  value: unknown,
  items: readonly string[],
  also: readonly string[] = [],
): Map<string, Leaf>[] {
  if (!isObject(value)) return [new Map()];
  const list = find(value, items);
  const all = Array.isArray(list.value) ? list.value : [];
  const leaves = [...leavesOf(value, '', 0)];
  const absent = also.filter(
    (pointer) => !leaves.some((leaf) => `${leaf.pointer}/`.startsWith(`${pointer}/`)),
  );
  leaves.push(...absent.map((pointer) => ({ pointer, text: '' })));
  return Array.from({ length: Math.max(1, all.length) }, (_, index) => {
    const inItem = `${list.pointer}/${index}`;
    const own = leaves.filter(
      ({ pointer }) =>
        pointer === inItem ||
        pointer.startsWith(`${inItem}/`) ||
        !pointer.startsWith(`${list.pointer}/`),
    );
    return new Map(own.map((leaf) => [nameOf(leaf.pointer, list.pointer), leaf]));
  });
}

/** `/lines/3/sku` as `lines.sku`. */
function nameOf(pointer: string, list: string): string {
  const inList = pointer.startsWith(`${list}/`);
  const path = inList ? list + pointer.slice(list.length).replace(/^\/\d+/, '') : pointer;
  return stepsOf(path).join('.');
}

function* leavesOf(value: unknown, pointer: string, depth: number): Generator<Leaf> {
  const isParent = Array.isArray(value) || isObject(value);
  if (!isParent) yield { pointer, text: textOf(value) };
  else if (depth < DEEPEST)
    for (const [key, inner] of Object.entries(value))
      yield* leavesOf(inner, pointer + pointerStep(key), depth + 1);
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return sourceOfNumber(value) ?? (typeof value === 'boolean' ? String(value) : '');
}

/** The row, from 0, and the name of the cell of a value in an object. */
export function cellAt(
  value: unknown,
  items: readonly string[],
  pointer: string,
): { index: number; name: string } {
  const list = isObject(value) ? find(value, items).pointer : '';
  const index = pointer.startsWith(`${list}/`) ? Number(stepsOf(pointer.slice(list.length))[0]) : 0;
  return { index: Number.isSafeInteger(index) ? index : 0, name: nameOf(pointer, list) };
}

/** The pointers, within a record, of what its problems are about. */
function problemPointers(
  { place }: Pick<SourceRecord, 'place'>,
  problems: readonly Problem[],
): string[] {
  return problems.flatMap((one) =>
    isAbout(one, place) && inner(one, place) !== '' ? inner(one, place) : [],
  );
}

/** An object with other values, by their pointers; `removed`: items that are left out. Numbers keep their source text. */
export function withValues(
  value: unknown,
  values: ReadonlyMap<string, string>,
  removed: ReadonlySet<string> = new Set(),
): unknown {
  const root = { value: parseExactly(JSON.stringify(value)) };
  for (const [pointer, text] of values)
    setAt(root, `/value${pointer}`, (before) => typedAs(before, text));
  const lists = Map.groupBy(removed, (pointer) => pointer.slice(0, pointer.lastIndexOf('/')));
  for (const [list, pointers] of lists) {
    const indexes = new Set(pointers.map((pointer) => Number(pointer.slice(list.length + 1))));
    const all = valueAt(root.value, list);
    if (Array.isArray(all)) all.splice(0, all.length, ...all.filter((_, i) => !indexes.has(i)));
  }
  return root.value;
}

/** What was a number stays one where the new text is one; every other text stays a text. */
function typedAs(before: unknown, text: string): unknown {
  const isNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
  return isNumber && sourceOfNumber(before) !== undefined ? jsonNumber(text) : text;
}

/** The rows of each record: an object begins with the row that has its value. */
export function recordsIn(rows: readonly LetterRow[]): LetterRow[][] {
  const records: LetterRow[][] = [];
  for (const row of rows) {
    const last = records.at(-1);
    if (last === undefined || row.value !== undefined || last[0]?.value === undefined)
      records.push([row]);
    else last.push(row);
  }
  return records;
}

/** The place of a record in the file of its batch. */
export function placeOfRecord([first]: readonly LetterRow[]): Place {
  const { line = 0, pointer } = first ?? {};
  return { line, ...(pointer !== undefined && { pointer }) };
}

/** The problems that are about a cell, and those of the complete row; of an object, those of all its rows. */
export type RowProblems = { of(cell: string): Problem[]; whole: Problem[] };

/** What is wrong with each row of a dead letter. */
export function problemsOf(
  { problems = [], rows = [] }: Pick<DeadLetter, 'problems' | 'rows'>,
  { header = [], items = [] }: Pick<FileShape, 'header' | 'items'>,
): (row: LetterRow) => RowProblems {
  const names = columnNames(header);
  const found = new Map<number, RowProblems>();
  for (const record of recordsIn(rows)) {
    const place = placeOfRecord(record);
    const value = record[0]?.value;
    const own = problems.filter((one) => isAbout(one, place));
    const flat = flatten(value, items, problemPointers({ place }, own));
    for (const [index, { row }] of record.entries()) {
      const of = (cell: string) =>
        own.filter((one) =>
          value === undefined
            ? names[header.indexOf(one.field)] === cell
            : contains(inner(one, place), flat[index]?.get(cell)?.pointer),
        );
      const cells = value === undefined ? names : [...(flat[index]?.keys() ?? [])];
      const placed = new Set(cells.flatMap(of));
      const others = record.flatMap((_, at) => [...(flat[at]?.values() ?? [])]);
      const whole = own.filter(
        (one) =>
          !placed.has(one) &&
          !(
            value !== undefined &&
            others.some(({ pointer }) => contains(inner(one, place), pointer))
          ),
      );
      found.set(row, { of, whole });
    }
  }
  return ({ row }) => found.get(row) ?? { of: () => [], whole: [] };
}

/** The pointer of a problem within its record; "" for the complete record. */
function inner({ pointer = '' }: Problem, place: Place): string {
  return pointer.slice((place.pointer ?? '').length);
}

/** Whether a problem at `outer` is about the value at `pointer`. */
function contains(outer: string, pointer = ''): boolean {
  return outer !== '' && `${pointer}/`.startsWith(`${outer}/`);
}

function isAbout(problem: Problem, { line, pointer }: Place): boolean {
  if (pointer === undefined || problem.pointer === undefined) return problem.line === line;
  return `${problem.pointer}/`.startsWith(`${pointer}/`);
}
