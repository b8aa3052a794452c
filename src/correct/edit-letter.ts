import type { Mapping } from '../config/config.ts';
import { plainName } from '../config/mapping-schema.ts';
import { find, isObject, textOf } from '../mapping/find-key.ts';
import { compile } from '../mapping/plan.ts';
import { type DeadLetter, type LetterRow, refOf } from '../order/dead-letter.ts';
import type { Problem } from '../order/problem.ts';
import type { FileShape, Place, SourceRecord } from '../order/record.ts';
import { pointerStep, shorten, trimBlanks } from '../order/text.ts';
import {
  columnNames,
  flatten,
  placeOfRecord,
  problemsOf,
  readCells,
  recordsIn,
  tableCells,
  withValues,
} from './letter-rows.ts';
import type { PatchRow } from './patch.ts';

/** A dead letter of the report that is corrected; `ended`: what became of it, if it is not open any more. */
export type Letter = DeadLetter & { ordinal: number; ended?: string | undefined };

/** A row of a dead letter with the values that were taken, and its line in the file that came back. */
export type EditedRow = {
  row: LetterRow;
  line: number | undefined;
  taken: Map<string, string>;
  isOut: boolean;
  isSent: boolean;
};

/** A dead letter as a person corrected it. `restored`: cells that were not taken. */
export type Edit = {
  letter: Letter;
  rows: EditedRow[];
  added: PatchRow[];
  restored: string[];
  isTouched: boolean;
};

/** How rows of a batch become records, and where their number is. */
export type RowForm = Pick<FileShape, 'header' | 'items'> & {
  names: readonly string[];
  numberOf(record: SourceRecord): string;
  /** The name of the cell with the number. */
  numberCell(letter: Letter): string;
};

/** Finds out the form of the rows of a batch. */
export function rowForm(shape: Pick<FileShape, 'header' | 'items'>, mapping: Mapping): RowForm {
  const { header, items = [] } = shape;
  const names = columnNames(header ?? []);
  const { columns, number } = compile(mapping);
  const wanted = [...(columns[number]?.plain ?? [])];
  if (header !== undefined) {
    const at = header.findIndex((name) => wanted.includes(plainName(name)));
    const numberOf = (record: SourceRecord) =>
      record.kind === 'row' ? trimBlanks(record.cells[at] ?? '') : '';
    return { header, items, names, numberOf, numberCell: () => names[at] ?? '' };
  }
  return {
    items,
    names,
    numberOf: (record) =>
      record.kind === 'object' && isObject(record.value)
        ? (textOf(find(record.value, wanted).value) ?? '')
        : '',
    numberCell({ rows: [first] = [] }) {
      if (!isObject(first?.value)) return '';
      const { pointer } = find(first.value, wanted);
      const leaves = [...(flatten(first.value, items)[0] ?? [])];
      return leaves.find(([, leaf]) => leaf.pointer === pointer)?.[0] ?? '';
    },
  };
}

/** An edit that changes nothing yet. */
export function unedited(letter: Letter): Edit {
  const rows = (letter.rows ?? []).map((row): EditedRow => {
    return { row, line: undefined, taken: new Map(), isOut: false, isSent: false };
  });
  return { letter, rows, added: [], restored: [], isTouched: false };
}

/** What a person changed in the rows of one dead letter. `isForm`: every cell is taken, and what is unchanged is sent. */
export function editLetter(
  letter: Letter,
  patch: readonly PatchRow[],
  { form, isForm }: { form: RowForm; isForm: boolean },
): Edit {
  const edit = unedited(letter);
  const problems = problemsOf(letter, form);
  const areAllOpen = isForm || isOpen(letter, form);
  const number = form.numberCell(letter);
  const isAtFault = (name: string) =>
    edit.rows.some(
      ({ row }) => (name === number || row === current) && problems(row).of(name).length > 0,
    );
  let current: LetterRow | undefined;
  for (const { id, line, act, cells } of patch) {
    const one = id?.row === undefined ? undefined : edit.rows[id.row - 1];
    if (one === undefined) continue;
    current = one.row;
    one.line = line;
    one.isOut = act === 'delete';
    one.isSent = act === 'send';
    for (const [name, cell] of Object.entries(cells)) {
      const was = one.row.cells[name];
      const isKnown = was !== undefined || form.names.includes(name);
      if (!isKnown || trimBlanks(cell) === trimBlanks(was ?? '')) continue;
      if (areAllOpen || isAtFault(name)) one.taken.set(name, cell);
      else edit.restored.push(`line ${line}, ${name}: ${quoted(cell)} was ${quoted(was ?? '')}`);
    }
  }
  edit.added = patch.filter(({ id }) => id?.row === undefined);
  edit.isTouched =
    isForm ||
    edit.added.length > 0 ||
    edit.rows.some(({ taken, isOut, isSent }) => taken.size > 0 || isOut || isSent);
  return edit;
}

const quoted = (text: string): string => JSON.stringify(shorten(text, 40));

/** Whether any cell of a dead letter may be at fault, because its problems name none. */
function isOpen(letter: Letter, form: RowForm): boolean {
  const { kind, problems = [], rows = [] } = letter;
  const found = problemsOf(letter, form);
  return (
    kind !== 'invalid' || problems.length === 0 || rows.some((row) => found(row).whole.length > 0)
  );
}

/** The records of a dead letter as it is corrected. `lineFor`: where a row is that did not come back. */
export function recordsOf(
  edit: Edit,
  form: RowForm,
  { lineFor, held }: { lineFor(): number; held: readonly Problem[] },
): SourceRecord[] {
  const isAllSent = edit.rows.some(({ isSent }) => isSent) && isOpen(edit.letter, form);
  const kept = recordsIn(edit.rows.map(({ row }) => row)).flatMap((rows): SourceRecord[] => {
    const own = edit.rows.filter(({ row }) => rows.includes(row));
    if (own.every(({ isOut }) => isOut)) return [];
    const from = placeOfRecord(rows);
    const line = own.find((one) => one.line !== undefined)?.line ?? lineFor();
    const left = held.filter((one) => isHeldIn(one, from, edit.letter));
    const facts = {
      place: { line },
      from: refOf(edit.letter),
      ...((isAllSent || own.some(({ isSent }) => isSent)) && { isConfirmed: true }),
      ...(left.length > 0 && { held: left.map((one) => movedTo(one, line, from.pointer)) }),
    };
    const [first] = own;
    if (first === undefined) return [];
    if (first.row.value !== undefined)
      return [{ kind: 'object', ...facts, value: objectOf(own, edit, form) }];
    return [{ kind: 'row', ...facts, cells: cellsNow(first, form) }];
  });
  return [...kept, ...addedRecords(edit, form, kept)];
}

/** An object has all its problems; of a table, what names no row of the order is in its first one. */
function isHeldIn(problem: Problem, from: Place, { rows = [] }: Letter): boolean {
  if (from.pointer !== undefined) return `${problem.pointer ?? ''}/`.startsWith(`${from.pointer}/`);
  const isOfRow = rows.some(({ line }) => line === problem.line);
  return (isOfRow ? problem.line : rows[0]?.line) === from.line;
}

function movedTo(problem: Problem, line: number, from = ''): Problem {
  const { pointer, ...rest } = problem;
  return { ...rest, line, ...(pointer !== undefined && { pointer: pointer.slice(from.length) }) };
}

function cellsNow({ row, taken }: EditedRow, { header = [], names }: RowForm): string[] {
  return taken.size === 0
    ? readCells(row.cells, names)
    : tableCells({ ...row.cells, ...Object.fromEntries(taken) }, header);
}

/** An object with the values of its rows; where these differ about the order itself, the first that was changed. */
function objectOf(rows: readonly EditedRow[], edit: Edit, form: RowForm): unknown {
  const value = rows[0]?.row.value;
  const flat = flatten(value, form.items ?? []);
  const list = isObject(value) ? find(value, form.items ?? []).pointer : '';
  const values = new Map<string, string>();
  for (const [index, { taken }] of rows.entries()) {
    for (const [name, text] of taken) {
      const pointer = flat[index]?.get(name)?.pointer ?? pointerOf(name, list, index);
      if (!values.has(pointer)) values.set(pointer, text);
    }
  }
  const removed = rows.flatMap(({ isOut }, index) => (isOut ? `${list}/${index}` : []));
  const isList = rows.length > 1 || flat[0]?.keys().some((name) => isItemCell(name, list));
  for (const [index, { cells }] of (isList ? edit.added : []).entries()) {
    for (const [name, text] of Object.entries(cells))
      if (text !== '' && isItemCell(name, list))
        values.set(pointerOf(name, list, rows.length + index), text);
  }
  return withValues(value, values, new Set(removed));
}

const listName = (list: string): string => list.split('/').slice(1).join('.');
const isItemCell = (name: string, list: string): boolean => name.startsWith(`${listName(list)}.`);

/** Where the value of a cell is in an item that lacks it. */
function pointerOf(name: string, list: string, index: number): string {
  const steps = (path: string) => path.split('.').map(pointerStep).join('');
  return isItemCell(name, list)
    ? `${list}/${index}${steps(name.slice(listName(list).length + 1))}`
    : steps(name);
}

/** New rows of a table, and new objects that are rows; a new item is in its object. */
function addedRecords(
  { letter, added }: Edit,
  form: RowForm,
  kept: readonly SourceRecord[],
): SourceRecord[] {
  const first = letter.rows?.[0];
  return added.flatMap(({ line, cells }): SourceRecord[] => {
    const place = { line };
    if (form.header !== undefined)
      return [{ kind: 'row', place, from: refOf(letter), cells: tableCells(cells, form.header) }];
    const list = isObject(first?.value) ? find(first.value, form.items ?? []) : undefined;
    if (kept.length === 0 || list?.value !== undefined) return [];
    const values = Object.entries(cells).map(
      ([name, text]) => [pointerOf(name, '', 0), text] as const,
    );
    return [{ kind: 'object', place, from: refOf(letter), value: withValues({}, new Map(values)) }];
  });
}

/** What was wrong with a dead letter, where nobody changed what it names. `isSettled`: whether a row is decided on. */
export function stillHeld(
  edit: Edit,
  form: RowForm,
  isSettled: (place: string) => boolean,
): Problem[] {
  const { letter, rows, added } = edit;
  const problems = problemsOf(letter, form);
  const isAllSent = rows.some(({ isSent }) => isSent) && isOpen(letter, form);
  const isAnswered = (problem: Problem): boolean => {
    if (isAllSent || !OF_FILE.has(problem.code)) return true;
    if (problem.rows !== undefined) return added.length > 0 || problem.rows.every(isSettled);
    return rows.some(({ row, taken, isSent, isOut }) => {
      const { of, whole } = problems(row);
      if (whole.includes(problem)) return isSent || isOut || taken.size > 0 || added.length > 0;
      const cells = Object.keys(row.cells).filter((name) => of(name).includes(problem));
      const names = [...taken.keys()].filter((name) => of(name).includes(problem));
      return cells.length + names.length > 0 && (isSent || isOut || names.length > 0);
    });
  };
  return (letter.problems ?? []).filter((problem) => !isAnswered(problem));
}

/** Problems that the rows of the order do not show alone; all others are found again where they still are. */
const OF_FILE: ReadonlySet<string> = new Set([
  'beside-damaged',
  'cut',
  'named-by-damaged',
  'number-twice',
]);
