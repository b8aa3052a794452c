import { sourceOfNumber } from '../order/quantity.ts';
import { pointerStep } from '../order/text.ts';
import type { ObjectRecord, Value } from '../parse/record.ts';
import type { Layout } from './layout.ts';
import type { Mark, Part } from './line.ts';
import type { Column, Plan } from './plan.ts';
import type { Watch } from './rows.ts';
import { createNumbers, createPlacing, createSkips, type Sink, type Sorter } from './sort.ts';
import { unreadable } from './unreadable.ts';
import { isKeyed, isList, plainKey, textOfValue } from './value.ts';

/** What the first pass learns about the keys of objects, beside the orders. */
export type ObjectWatch = Watch & {
  /** For each declared column, the name of it that the file has. */
  seen: (string | undefined)[];
  /** Whether one of them has the list of items, and how many items there are. */
  hasList: boolean;
  items: number;
};

/** Where a path of declared names leads. `column`: to a declared column; `isItems`: to the items of an order. */
type Node = { column: number; isItems: boolean; children: Map<string, Node> };

/** Sorts a list of objects: each is a row, or with `items` an order with a list of items. */
export function createObjectSorter(
  plan: Plan,
  layout: Layout,
  sink: Sink,
  { isXml, watch }: { isXml: boolean; watch?: ObjectWatch | undefined },
): Sorter {
  const reader = createReader(plan, isXml, watch);
  const begin = plan.hasOrderRecords
    ? createOrders(plan, layout, sink, reader)
    : createObjectRows(plan, layout, sink, reader);
  return {
    add(record) {
      if (record.kind !== 'object') return;
      if (watch !== undefined) watch.rows += 1;
      begin(record);
    },
    end: () => undefined,
  };
}

type Reader = ReturnType<typeof createReader>;

function createObjectRows(plan: Plan, layout: Layout, sink: Sink, reader: Reader) {
  const placing = createPlacing(plan, layout, sink);
  return (record: ObjectRecord) => {
    const { value, pointer } = record;
    const { part, hasValue } = reader.read(value, { record, pointer, isItem: false });
    if (hasValue) placing.place(part);
  };
}

/** Each object begins an order, which has the values of the object in each of its items. */
function createOrders(plan: Plan, layout: Layout, sink: Sink, reader: Reader) {
  const numbers = createNumbers(plan, layout);
  const isIn = (isInItems: boolean) =>
    plan.rowSkips.filter((index) => plan.columns[index]?.isInItems === isInItems);
  const isOrderSkipped = createSkips(isIn(false), plan, layout);
  const isItemSkipped = createSkips(isIn(true), plan, layout);

  return (record: ObjectRecord) => {
    const { value, pointer } = record;
    const found = reader.read(value, { record, pointer, isItem: false });
    if (!found.hasValue) return;
    const head: Part = { ...found.part, isHead: true };
    const number = numbers.read(head);
    if (isOrderSkipped?.(head) === true) return sink.leftOut(record, number, false);
    const fault = numbers.fault(head, number);
    if (fault !== undefined) return sink.damaged(record, numbers.problem(head, number, fault), '');

    const { items, at } = found.list;
    sink.line(items === undefined ? { ...head, items: 'notAList' } : head, number, true);
    for (const [index, item] of (items ?? []).entries()) {
      const place = { record, pointer: `${at}/${index}`, isItem: true, head: found.part };
      const { part } = reader.read(item, place);
      if (isItemSkipped?.(part) === true) sink.leftOut(record, number, true);
      else sink.line(isKeyed(item) ? part : { ...part, items: 'notAnObject' }, number, false);
    }
  };
}

type Place = { record: ObjectRecord; pointer: string; isItem: boolean; head?: Part };

/** The items of an order, and where they are; none that are no list. */
type List = { items: readonly Value[] | undefined; at: string };

type Keyed = { readonly [key: string]: Value };

/** Where the reader is in an object. `isCovered`: something above is ignored, with all that is inside. */
type At = { node: Node; name: string; pointer: string; isCovered: boolean };

/** Reads objects as parts, by the paths of the declared names. */
function createReader(plan: Plan, isXml: boolean, watch: ObjectWatch | undefined) {
  const { columns } = plan;
  const { root, item } = treeOf(plan);
  const empty = columns.map(() => '');
  let cells: string[] = [];
  let odd: { [at: number]: Mark | undefined } | undefined;
  let list: List = { items: [], at: '' };
  let hasValue = false;
  let line = 0;
  const found: boolean[] = [];
  const inOrder = { node: root, name: '' };
  const inItem = { node: item, name: plan.mapping.items ?? '' };

  function put(index: number, path: string, text: string, mark?: Mark) {
    const column = columns[index];
    if (column === undefined) return;
    const name = plainKey(path);
    if (found[index] === true || (watch?.seen[index] ?? name) !== name) refuse(column);
    found[index] = true;
    if (watch !== undefined) watch.seen[index] = name;
    cells[index] = text;
    if (mark !== undefined) {
      odd ??= {};
      odd[index] = mark;
    }
  }

  function refuse({ name }: Column): never {
    throw unreadable({ code: 'unreadable-two-columns', column: name, line });
  }

  function enter(object: Keyed, { node, name: path, pointer, isCovered }: At) {
    for (const key in object) {
      if (key === '#text') continue;
      const value = object[key] ?? null;
      const plain = plainKey(key);
      const inner = node.children.get(plain);
      const name = path === '' ? key : `${path}.${key}`;
      // Only what has declared names inside is looked into.
      const isInside = inner !== undefined && (inner.isItems || inner.children.size > 0);
      const at = isInside ? pointer + pointerStep(key) : pointer;
      if (inner !== undefined) follow(value, { node: inner, name, pointer: at, isCovered });
      else if (isCovered) hasValue ||= isFilled(value);
      else note(name, value);
    }
  }

  function follow(value: Value, place: At) {
    const { node, name, pointer, isCovered } = place;
    const column = columns[node.column];
    if (node.isItems) {
      if (watch !== undefined) watch.hasList = true;
      list = { items: itemsOf(value, isXml), at: pointer };
      hasValue ||= isFilled(value);
      return;
    }
    if (isKeyed(value)) return followInto(value, place);
    if (isList(value)) {
      hasValue ||= isFilled(value);
      return markAll(node, name);
    }
    const text = textOfValue(value);
    if (text !== '') hasValue = true;
    if (column !== undefined) put(node.column, name, text, markOf(value));
    else if (text !== '' && !isCovered) note(name, value);
  }

  function followInto(value: Keyed, place: At) {
    const { node, name, isCovered } = place;
    const column = columns[node.column];
    const text = value['#text'];
    const isElement = isXml || text !== undefined;
    if (column !== undefined) {
      const own = textOfValue(text ?? '');
      if (own !== '') hasValue = true;
      put(node.column, name, own, isElement ? undefined : { kind: 'structure' });
    }
    enter(value, { ...place, isCovered: isCovered || column?.isIgnored === true });
  }

  /** A list in place of an object: nothing inside it is the value of a column. */
  function markAll(node: Node, name: string) {
    if (node.column >= 0) put(node.column, name, '', { kind: 'structure' });
    for (const [key, inner] of node.children)
      if (!key.includes('.')) markAll(inner, `${name}.${key}`);
  }

  function note(name: string, value: Value) {
    if (!isFilled(value)) {
      watch?.undeclared.name(name);
      return;
    }
    hasValue = true;
    const shown = isList(value) ? '[…]' : isKeyed(value) ? '{…}' : textOfValue(value);
    watch?.undeclared.add(name, shown);
  }

  function read(value: Value, { record, pointer, isItem, head }: Place) {
    cells = head === undefined ? [...empty] : [...head.cells];
    odd = head?.odd && { ...head.odd };
    list = { items: [], at: pointer };
    hasValue = false;
    line = record.line;
    found.fill(false);
    if (isItem && watch !== undefined) watch.items += 1;
    if (isKeyed(value)) enter(value, { ...(isItem ? inItem : inOrder), pointer, isCovered: false });
    else if (isFilled(value)) hasValue = true;
    const part: Part = {
      kind: 'part',
      line,
      cells,
      pointer,
      record,
      value,
      ...(odd !== undefined && { odd }),
    };
    return { part, list, hasValue };
  }

  return { read };
}

/** The paths of the declared names, as a tree; that of the items begins anew. */
function treeOf({ columns, mapping }: Plan): { root: Node; item: Node } {
  const root = nodeOf();
  const item = mapping.items === undefined ? nodeOf() : nodeAt(root, plainKey(mapping.items));
  item.isItems = mapping.items !== undefined;
  const inside = `${plainKey(mapping.items ?? '')}.`;
  for (const [index, { plain, isInItems }] of columns.entries())
    for (const name of plain) {
      const [from, path] =
        isInItems && name.startsWith(inside) ? [item, name.slice(inside.length)] : [root, name];
      const node = nodeAt(from, path);
      node.column = index;
      // A key may have all of the path as its name.
      if (path.includes('.') && !from.children.has(path)) from.children.set(path, node);
    }
  return { root, item };
}

function nodeAt(from: Node, path: string): Node {
  return path.split('.').reduce((node, step) => {
    const inner = node.children.get(step) ?? nodeOf();
    node.children.set(step, inner);
    return inner;
  }, from);
}

function nodeOf(): Node {
  return { column: -1, isItems: false, children: new Map() };
}

/** The items in place of a list; one element of XML is a list of one. */
function itemsOf(value: Value, isXml: boolean): readonly Value[] | undefined {
  if (isList(value)) return value;
  if (isKeyed(value)) return isXml ? [value] : undefined;
  return textOfValue(value) === '' ? [] : undefined;
}

function markOf(value: Value): Mark | undefined {
  if (sourceOfNumber(value) !== undefined) return { kind: 'exact' };
  return typeof value === 'boolean' ? { kind: 'boolean' } : undefined;
}

function isFilled(value: Value): boolean {
  if (isList(value)) return value.some(isFilled);
  if (isKeyed(value)) return Object.values(value).some(isFilled);
  return textOfValue(value) !== '';
}
