import type { Mark } from '../mapping/line.ts';
import { isKeyed, isList, plainKey, textOfValue } from '../mapping/value.ts';
import { sourceOfNumber } from '../order/quantity.ts';
import type { Value } from '../parse/record.ts';
import { findItems } from './places.ts';
import {
  BOUNDS,
  isDeclarable,
  nothingIn,
  type Sample,
  type Table,
  type TableColumn,
  type TableRow,
} from './table.ts';

type Keyed = { readonly [key: string]: Value };

const TEXT = '#text';

/** Objects as rows, one for each of their items. PoSyncError `map-empty` for a list without objects. */
export function tableOfObjects({ records, isAll, ...given }: Sample): Table {
  const objects = records.flatMap((one) =>
    one.kind === 'object' && isKeyed(one.value) ? [{ line: one.line, value: one.value }] : [],
  );
  if (objects.length === 0) throw nothingIn(given.file);

  const items = findItems(
    objects.map(({ value }) => value),
    given.format === 'xml',
  );
  const columns = createColumns(items);
  const rows: TableRow[] = [];
  for (const { line, value } of objects) {
    const head = columns.cellsOf(value, false);
    const list = items === undefined ? [value] : itemsAt(value, items);
    for (const item of list) {
      const own = items === undefined ? head : columns.cellsOf(item, true, head);
      rows.push({ line, ...own });
    }
  }

  const all = columns.all();
  const path = items?.join('.');
  return {
    ...given,
    settings: [...given.settings, ...(path === undefined ? [] : [{ key: 'items', value: path }])],
    columns: all,
    rows: rows.map((row) => ({ ...row, cells: all.map((_, at) => row.cells[at] ?? '') })),
    header: undefined,
    byPosition: undefined,
    notes: [
      ...(isAll ? [] : [`only the first ${objects.length} records were looked at`]),
      ...(columns.isLeftOut()
        ? ['some keys have names that cannot be declared: they will wait']
        : []),
    ],
  };
}

/** Columns as they are found: each path to a value. */
function createColumns(items: readonly string[] | undefined) {
  const known = new Map<string, number>();
  const columns: TableColumn[] = [];
  let isLeftOut = false;

  /** The column of a path; that of the object around it where the path cannot be declared. */
  function indexOf(steps: readonly string[], isInItems: boolean): number | undefined {
    const all = isInItems ? [...(items ?? []), ...steps] : steps;
    const isWhole = isDeclarable(all.join('.')) && steps.every((step) => plainKey(step) !== '');
    const isFound = steps.length < 2 || !steps.some((step) => step.includes('.'));
    if (!isWhole || !isFound) {
      isLeftOut ||= steps.length < 2;
      if (steps.length > 1) indexOf(steps.slice(0, -1), isInItems);
      return undefined;
    }
    const key = plainKey(all.join('.'));
    const before = known.get(key);
    if (before !== undefined || columns.length >= BOUNDS.columns) return before;
    columns.push({ name: all.join('.'), steps: all, isInItems });
    known.set(key, columns.length - 1);
    return columns.length - 1;
  }

  function cellsOf(value: Value, isInItems: boolean, head?: { cells: string[] }) {
    const cells = [...(head?.cells ?? [])];
    const odd: { [at: number]: Mark } = {};
    const put = (steps: readonly string[], text: string, mark?: Mark) => {
      const at = indexOf(steps, isInItems);
      if (at === undefined) return;
      cells[at] = text;
      if (mark !== undefined) odd[at] = mark;
    };

    function enter(object: Keyed, steps: readonly string[]) {
      for (const [key, one] of Object.entries(object)) {
        if (key === TEXT) {
          put(steps, textOfValue(one));
          continue;
        }
        const inner = [...steps, key];
        if (!isInItems && items !== undefined && isSame(inner, items)) continue;
        if (isList(one)) put(inner, one.length === 0 ? '' : '[…]', { kind: 'structure' });
        else if (isKeyed(one)) enter(one, inner);
        else if (sourceOfNumber(one) !== undefined) put(inner, textOfValue(one), { kind: 'exact' });
        else
          put(inner, textOfValue(one), typeof one === 'boolean' ? { kind: 'boolean' } : undefined);
      }
    }

    if (isKeyed(value)) enter(value, []);
    return { cells, ...(Object.keys(odd).length > 0 && { odd }) };
  }

  return { cellsOf, all: () => columns, isLeftOut: () => isLeftOut };
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((step, at) => plainKey(step) === plainKey(b[at] ?? ''));
}

function itemsAt(value: Value, steps: readonly string[]): readonly Value[] {
  let at: Value | undefined = value;
  for (const step of steps) {
    if (!isKeyed(at)) return [];
    const object: Keyed = at;
    const key = Object.keys(object).find((one) => plainKey(one) === plainKey(step));
    at = key === undefined ? undefined : object[key];
  }
  if (isList(at)) return at;
  return isKeyed(at) ? [at] : [];
}
