import type { Mapping } from '../../config/config.ts';
import { plainName, shorten } from '../../order/text.ts';
import { find, isObject } from '../find-key.ts';
import { setAt } from '../fix-objects.ts';
import type { Format } from '../format.ts';
import { createObjectPages, type ObjectRecord, watchObjects } from '../objects.ts';
import { unreadable } from '../unreadable.ts';
import { attributesOf, createXmlRecords, isNil, MIXED_KEY, textBetween } from './xml-records.ts';

/** XML: elements that are orders with items, or flat rows. */
export const xmlFormat: Format<'xml'> = {
  sniff: (start) => /^\s*<(?:[?]xml\b|!--|!doctype\b|[\p{L}_])/iu.test(start),

  async inspect(file, mapping) {
    const path = mapping.records?.split('.') ?? guessPath(file.start, mapping);
    const objects = watchObjects(file.size, mapping);
    const around = watchPaths();
    const parser = createXmlRecords(path, { onElement: around.add });
    for await (const chunk of file.text())
      for (const record of parser.write(chunk.toString()))
        objects.look(withItemList(record, mapping));
    for (const record of parser.end()) objects.look(withItemList(record, mapping));
    const others = mapping.records === undefined ? around.withNumber(mapping) : [];
    if (others.length > 0) throw severalPlaces([path, ...others]);
    if (objects.seen === 0 && around.hasElements()) throw nothingThere(path, around);
    const reading = { path, objects: objects.objects() };
    const [records, orders] = [objects.records, objects.orders()];
    return {
      records,
      orders,
      reading,
      isFixFile: false,
      unused: objects.unused.names(),
      warnings: objects.warnings(),
      shape: { format: { type: 'xml' } },
    };
  },

  async *read(file, { path }, mapping) {
    const parser = createXmlRecords(path);
    const pageOf = createObjectPages(mapping);
    const listed = (records: ObjectRecord[]) =>
      records.map((record) => withItemList(record, mapping));
    for await (const chunk of file.text()) yield pageOf(listed(parser.write(chunk.toString())));
    yield pageOf(listed(parser.end()));
  },
};

/** A single item is an object, and a list of items is often an element with one more inside. */
function withItemList(record: ObjectRecord, { fields }: Mapping): ObjectRecord {
  const { value } = record;
  if (!isObject(value)) return record;
  refuseMixed(record, [value]);
  const { value: found, pointer, isAmbiguous } = find(value, fields.items);
  if (Array.isArray(found)) refuseMixed(record, found);
  if (isAmbiguous || !isObject(found)) return record;
  const isItem = [fields.articleCode, fields.quantity].some(
    (names) => find(found, names).value !== undefined,
  );
  const list = isItem ? [found] : elementsIn(found);
  refuseMixed(record, [found, ...list]);
  if (isComplete(found, list)) setAt(value, pointer, list);
  return record;
}

/** The items in an element: those within it, or itself if it has something else. */
function elementsIn(found: Record<string, unknown>): unknown[] {
  const own = attributesOf(found);
  const inner = Object.entries(found).filter(([key]) => !own.includes(key));
  const [only, ...others] = inner.map(([, value]) => value);
  if (only === undefined && own.every((name) => COUNT.test(name))) return [];
  return others.length === 0 && typeof only === 'object' ? [only].flat() : [found];
}

/** `<items count="2">`, as some programs write before a list. */
const COUNT = /(?:count|size|length|number|anzahl)$/i;

/** Whether an element has as many items as its attributes say. Otherwise it stays an object, which no check takes for a list. */
function isComplete(found: Record<string, unknown>, list: readonly unknown[]): boolean {
  if (isNil(found)) return false;
  const counts = attributesOf(found).filter(
    (name) => COUNT.test(name) && /^\d+$/.test(String(found[name])),
  );
  return counts.every((name) => Number(found[name]) === list.length);
}

/** An order and its items have no text between their elements; a description in them may have. */
function refuseMixed({ line }: ObjectRecord, values: readonly unknown[]): void {
  if (values.some((value) => isObject(value) && MIXED_KEY in value)) throw textBetween(line);
}

/** Different paths of elements that are remembered. */
const MOST_PATHS = 10_000;

/** Collects the paths of the elements and attributes of a document, each once. */
function watchPaths() {
  const known = new Map<string, { path: readonly string[]; line: number }>();

  function note(path: readonly string[], line: number): void {
    const key = path.join('/');
    if (!known.has(key) && known.size < MOST_PATHS) known.set(key, { path: [...path], line });
  }

  return {
    add(path: readonly string[], attributes: Iterable<string>, { line }: { line: number }): void {
      note(path, line);
      for (const name of attributes) note([...path, name], line);
    },
    /** The outermost paths whose elements have an order number. */
    withNumber({ fields }: Mapping): string[][] {
      // A name with a dot is one element, or leads through several.
      const names = fields.purchaseOrderNumber.flatMap((name) => [[name], name.split('.')]);
      const found = new Map<string, string[]>();
      for (const { path } of known.values()) {
        for (const steps of names) {
          const [above, end] = [path.slice(0, -steps.length), path.slice(-steps.length)];
          if (
            above.length > 0 &&
            steps.every((step, at) => plainName(step) === plainName(end[at] ?? ''))
          )
            found.set(above.join('/'), above);
        }
      }
      const paths = [...found.values()];
      return paths.filter(
        (path) => !paths.some((other) => other.length < path.length && startsWith(path, other)),
      );
    },
    /** The root and, where there is one, the last element that a path leads to. */
    at(path: readonly string[]): { path: readonly string[]; children: string[] } {
      const all = [...known.values()].map((one) => one.path);
      const reached = all
        .filter((one) => fits(one, path.slice(0, one.length)))
        .toSorted((a, b) => b.length - a.length);
      const end = reached[0] ?? [];
      const children = all.filter((one) => one.length === end.length + 1 && startsWith(one, end));
      return { path: end, children: children.map((one) => one.at(-1) ?? '') };
    },
    hasElements: () => known.size > 1,
    /** The names of all elements and attributes, each once. */
    names: () => [...new Set([...known.values()].map(({ path }) => path.at(-1) ?? ''))],
  };
}

function startsWith(path: readonly string[], beginning: readonly string[]): boolean {
  return beginning.every((step, at) => step === path[at]);
}

function fits(names: readonly string[], steps: readonly string[]): boolean {
  return (
    names.length === steps.length &&
    steps.every((step, at) => step === '*' || plainName(step) === plainName(names[at] ?? ''))
  );
}

/** Where the orders are, judged by the beginning of the document: the outermost elements with an order number. */
function guessPath(start: string, mapping: Mapping): readonly string[] {
  const paths = watchPaths();
  // No element has this path, so all are looked at.
  createXmlRecords([], { onElement: paths.add }).write(start);
  const [path] = paths.withNumber(mapping);
  if (path !== undefined) return path;
  const root = paths.at([]).children;
  if (!paths.hasElements()) return [...root, '*'];
  throw noNumber(paths.names(), mapping);
}

function severalPlaces(paths: readonly (readonly string[])[]) {
  const shown = paths.map((path) => path.join('.')).join(' and ');
  const remedy =
    'Ask your operator. For your operator: set records in the mapping to the path of the orders.';
  return unreadable(
    'records',
    `The file has order numbers in several places: ${shorten(shown)}.`,
    { line: 1 },
    remedy,
  );
}

const SHOWN = 10;

/** With the names that a document has, as a table is shown with its columns, and every field that it has no name of. */
function noNumber(names: readonly string[], mapping: Mapping) {
  const wanted = mapping.fields.purchaseOrderNumber.join(' or ');
  const message = `No element or attribute ${wanted} was found; the document ${hasText(names)}.`;
  const remedy =
    'Check whether this is the right file. For your operator: name the one that is the order number in fields.purchaseOrderNumber of the mapping of the source.';
  return unreadable(
    'records',
    message,
    { line: 1 },
    `${remedy}${othersText(namelessIn(names, mapping))}`,
  );
}

/** The other fields of which a document has none of the names. */
function namelessIn(names: readonly string[], { fields, defaults }: Mapping): string[] {
  const known = new Set(names.map(plainName));
  const has = (name: string) =>
    known.has(plainName(name)) || known.has(plainName(name.split('.').at(-1) ?? ''));
  const wanted = (['items', 'articleCode', 'quantity'] as const).filter(
    (field) => !fields[field].some(has),
  );
  return wanted.filter((field) => field === 'items' || defaults[field] === undefined);
}

function othersText(nameless: readonly string[]): string {
  const rest = nameless.map(
    (field) => `fields.${field}${field === 'items' ? ' if each order has a list of them' : ''}`,
  );
  return rest.length === 0
    ? ''
    : ` Nothing was found for these either: ${rest.join('; ')}. Name them in the same way.`;
}

function nothingThere(path: readonly string[], paths: ReturnType<typeof watchPaths>) {
  const { path: reached, children } = paths.at(path);
  const where = reached.length === 0 ? 'the document' : reached.join('.');
  const message = `No element ${path.join('.')} was found; ${where} ${hasText(children)}.`;
  const remedy =
    'Check whether this is the right file. For your operator: correct records or fields in the mapping of the source.';
  return unreadable('records', message, { line: 1 }, remedy);
}

function hasText(names: readonly string[]): string {
  if (names.length === 0) return 'has no elements';
  const shown = names.slice(0, SHOWN).map((name) => JSON.stringify(name));
  return shorten(`has ${shown.join(', ')}${names.length > SHOWN ? ' and more' : ''}`, 500);
}
