import type { Mapping } from '../../config/config.ts';
import { plainName, pointerStep } from '../../order/text.ts';
import type { JsonLayout, Objects, Readings } from '../inspection.ts';
import { type ObjectRecord, type ObjectWatch, watchObjects } from '../objects.ts';
import type { Originals } from '../read-fix-file.ts';
import { emptyFile, unreadable } from '../unreadable.ts';
import { cutByPaging, type Paging, watchBesideList, watchOtherOrders } from './beside-list.ts';
import { continues, severalLists, tooLarge } from './json-faults.ts';
import { createJsonParser, type JsonWatch, keepFirst } from './json-records.ts';
import type { Frame, Start } from './json-scanner.ts';

/** What the first pass finds out about a JSON file. */
export type InspectedJson = {
  records: number;
  orders: number | undefined;
  reading: Readings['json'];
  isFixFile: boolean;
  unused: string[];
  warnings: string[];
};

/** Reads a JSON file to its end and finds where its orders are. */
export async function inspectJson(
  content: AsyncIterable<Buffer>,
  bytes: number,
  mapping: Mapping,
  originals: Originals | undefined,
): Promise<InspectedJson> {
  const beside = watchBesideList();
  const { records: path, format } = mapping;
  const search =
    path === undefined
      ? searchOrders(
          mapping,
          () => watchObjects(bytes, mapping, originals),
          format === 'ndjson' ? { kind: 'sequence' } : undefined,
        )
      : followPath(path.split('.'), format, watchObjects(bytes, mapping, originals));
  const parser = createJsonParser(search.layout, { ...search.watch, onScalar: beside.onScalar });
  for await (const chunk of content) {
    search.onChunk?.(chunk);
    for (const record of parser.write(chunk)) search.look(record);
  }
  for (const record of parser.end()) search.look(record);
  const { layout, objects, warnings } = search.found();
  const { records, seen } = objects;
  const isList = layout.kind === 'list';
  const paging = isList ? beside.paging(seen, objects.orders()) : undefined;
  return {
    records,
    orders: objects.orders(),
    reading: { layout, objects: withEndsHeld(objects, paging), ...(originals && { originals }) },
    isFixFile: objects.isFixFile(),
    unused: objects.unused.names(),
    warnings: [...(paging?.warnings ?? []), ...warnings, ...objects.warnings()],
  };
}

/** The rows of an order may be on two pages. */
function withEndsHeld(watch: ObjectWatch, paging: Paging | undefined): Objects {
  const objects = watch.objects();
  if (objects.kind !== 'rows' || paging === undefined) return objects;
  const { first = '', last } = watch.ends;
  return {
    ...objects,
    shifted: new Map([...objects.shifted, ...cutByPaging(paging, first, last)]),
  };
}

/** Finds the orders of a file. */
type Search = {
  layout: JsonLayout | 'unknown';
  watch: JsonWatch;
  onChunk?: ((chunk: Buffer) => void) | undefined;
  look(record: ObjectRecord): void;
  found(): { layout: JsonLayout; objects: ObjectWatch; warnings: string[] };
};

/** `prefix`: how the pointers of its elements begin. `hasRows`: some of these are arrays. */
type Candidate = { key: string; prefix: string; objects: ObjectWatch; hasRows?: boolean };

/** Finds the orders by the form of the file: a list, an object that holds one list, one order, or one after another. */
function searchOrders(
  mapping: Mapping,
  create: () => ObjectWatch,
  known: JsonLayout | undefined,
): Search {
  const [numberKeys, itemsKeys] = [
    firstKeys(mapping.fields.purchaseOrderNumber),
    firstKeys(mapping.fields.items),
  ];
  const single = create();
  const roots = watchRoots(known === undefined ? mapping.format : undefined, (one) =>
    single.look(one),
  );
  const contentKeys = firstKeys(
    [mapping.fields.items, mapping.fields.articleCode, mapping.fields.quantity].flat(),
  );
  const others = watchOtherOrders({ number: numberKeys, content: contentKeys });
  const lists: Candidate[] = [];
  let hasNumberKey = false;

  function onRoot(start: Start): void {
    if (roots.onRoot(start) === '[') lists.push({ key: '', prefix: '/', objects: create() });
  }

  function onKey(key: string): void {
    if (numberKeys.has(plainName(key))) hasNumberKey = true;
  }

  function onList(key: string): void {
    lists.push({ key, prefix: `${pointerStep(key)}/`, objects: create() });
  }

  function look(record: ObjectRecord): void {
    const list =
      record.pointer === ''
        ? undefined
        : lists.findLast(({ prefix }) => record.pointer.startsWith(prefix));
    if (list !== undefined && Array.isArray(record.value)) list.hasRows = true;
    (record.pointer === '' ? single : list?.objects)?.look(record);
  }

  function found(): ReturnType<Search['found']> {
    const warnings: string[] = [];
    const { line, opens } = roots.first();
    if (known !== undefined || roots.count() > 1) {
      roots.requireSmall();
      return { layout: known ?? { kind: 'sequence' }, objects: single, warnings };
    }
    const named = lists.filter(
      ({ key, objects }) => objects.hasNumbers || !itemsKeys.has(plainName(key)),
    );
    // Answers of APIs have empty lists of errors or links beside the one of orders.
    const filled = named.filter(({ objects }) => objects.seen > 0);
    const candidates = filled.length === 1 ? filled : named;
    const [list, second] = opens === '[' ? lists : candidates;
    if (hasNumberKey || list === undefined) {
      roots.requireSmall();
      return { layout: { kind: 'object' }, objects: single, warnings };
    }
    if (second !== undefined)
      throw severalLists(
        candidates.map(({ key }) => key),
        line,
        candidates.find(({ hasRows }) => hasRows)?.key,
      );
    others.refuse(list.key);
    return {
      layout: { kind: 'list', path: opens === '[' ? [] : [list.key] },
      objects: list.objects,
      warnings,
    };
  }

  const watch = {
    onRoot,
    onRootEnd: roots.onRootEnd,
    onKey,
    onList,
    onBesideKey: others.onBesideKey,
  };
  return { layout: known ?? 'unknown', watch, onChunk: roots.onChunk, look, found };
}

function firstKeys(paths: readonly string[]): ReadonlySet<string> {
  return new Set(paths.map((path) => plainName(path.split('.')[0] ?? path)));
}

/**
 * Follows the values at the top level. `onObject` gets the first one if it is an object, because it may be an order.
 * `format`: what the mapping says; undefined: one order after another.
 */
function watchRoots(
  format: Mapping['format'] | undefined,
  onObject: (object: ObjectRecord) => void,
) {
  const bytes = keepFirst();
  let count = 0;
  let first: { byte: number; line: number; opens: Start['opens'] } | undefined;

  return {
    onRoot({ opens, byte, place: { line } }: Start): Start['opens'] {
      count += 1;
      const mayFollow =
        format === undefined || (format !== 'json' && opens === '{' && first?.opens === '{');
      if (first !== undefined && !mayFollow) throw continues(line);
      if (first !== undefined) return undefined;
      first = { byte, line, opens };
      return opens;
    },
    onRootEnd(end: number): void {
      if (count > 1 || first?.opens !== '{') return;
      const { byte, line } = first;
      const text = bytes.take(byte, end);
      const parser = createJsonParser({ kind: 'object' });
      if (text !== undefined)
        for (const record of [...parser.write(text), ...parser.end()])
          onObject({ ...record, line });
    },
    onChunk: format === undefined ? undefined : bytes.add,
    count: () => count,
    first() {
      if (first === undefined) throw emptyFile();
      return first;
    },
    requireSmall(): void {
      if (bytes.isTooLarge()) throw tooLarge(first?.line ?? 1);
    },
  };
}

/** Finds the orders where the mapping says. */
function followPath(
  path: readonly string[],
  format: Mapping['format'],
  objects: ObjectWatch,
): Search {
  const layout: JsonLayout = { kind: 'list', path };
  let roots = 0;
  let first: Start['opens'];
  let missing: { line: number; message: string } | undefined;
  let misses = 0;

  /** One document, or one on each line. */
  function onRoot({ place, opens }: Start): void {
    roots += 1;
    if (roots === 1) first = opens;
    const mayFollow = format === 'ndjson' || (format !== 'json' && first === '{' && opens === '{');
    if (roots > 1 && !mayFollow) throw continues(place.line);
  }

  function onMissing({ isArray, keys, pointer, place: { line } }: Frame, step: string): void {
    if (isArray && step === '*') return;
    misses += 1;
    const where = pointer === '' ? 'the file' : pointer;
    const has = isArray
      ? 'is a list: write * there'
      : keys.size === 0
        ? 'is empty'
        : hasKeys(keys, step);
    missing ??= {
      line,
      message: `Line ${line}: records ${path.join('.')} leads to no orders; ${where} ${has}.`,
    };
  }

  function found(): ReturnType<Search['found']> {
    if (roots === 0) throw emptyFile();
    if (missing !== undefined && objects.seen === 0)
      throw unreadable(
        'records',
        missing.message,
        { line: missing.line },
        'Check whether this is the right file. For your operator: correct records in the mapping of the source.',
      );
    const warnings =
      misses === 0 ? [] : [`${misses} objects on the path ${path.join('.')} have no such orders.`];
    return { layout, objects, warnings };
  }

  return { layout, watch: { onRoot, onMissing }, look: (record) => objects.look(record), found };
}

function hasKeys(keys: ReadonlySet<string>, step: string): string {
  return step === '*'
    ? `is an object, not a list: write one of its keys there, ${shownKeys(keys)}`
    : `has ${shownKeys(keys)}`;
}

const SHOWN_KEYS = 10;

function shownKeys(keys: ReadonlySet<string>): string {
  const shown = [...keys].slice(0, SHOWN_KEYS).map((key) => JSON.stringify(key));
  return shown.join(', ') + (keys.size > SHOWN_KEYS ? ' and more' : '');
}
