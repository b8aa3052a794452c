import { pointerStep } from '../../order/text.ts';
import { LIMITS } from '../limits.ts';
import { newlineOf } from '../lines.ts';
import { isSameName, stepsOf } from '../names.ts';
import { paged } from '../pages.ts';
import type { ObjectRecord } from '../record.ts';
import type { Pass, Source } from '../source.ts';
import { listed, unreadable } from '../unreadable.ts';
import { createBuilder } from './build-record.ts';
import { type Attribute, createXmlReader } from './xml-reader.ts';

/** A complete pass over an XML document: the elements to which the path leads from the root, each as an object. */
export async function* readXml(
  source: Source,
  pass: Pass,
): AsyncGenerator<readonly ObjectRecord[]> {
  pass.newline = newlineOf(source.start);
  const steps = stepsOf(source.declared.records) ?? (await onlyPath(source, pass.signal));
  const around = watchPath(steps);
  const builder = createBuilder();
  let records: ObjectRecord[] = [];

  const reader = createXmlReader({
    onOpen(name, attributes, line) {
      if (builder.isOpen()) {
        builder.open(name, attributes);
        return;
      }
      const pointer = around.enter(name, attributes);
      if (around.isAtEnd()) builder.begin(name, attributes, line, pointer);
    },
    onText(text) {
      if (builder.isOpen()) builder.text(text);
      else around.text(text);
    },
    onClose() {
      if (builder.isOpen()) {
        const record = builder.close();
        if (record === undefined) return;
        records.push(record);
      }
      around.leave();
    },
  });

  for await (const chunk of source.content(pass)) {
    reader.write(chunk.toString());
    yield* paged(records);
    records = [];
  }
  reader.end();
  yield* paged(records);
  around.requireFound();
  pass.beside = around.beside();
}

/** Follows the path through the elements around the records. */
function watchPath(path: readonly string[]) {
  // The document itself is its root.
  const depth = Math.max(1, path.length);
  const names: string[] = [];
  const pointers: string[] = [''];
  const counts: Map<string, number>[] = [new Map()];
  const beside = new Set<string>();
  /** The names at the deepest place on the path that was reached, for the fault. */
  let reached = { at: 'the document', depth: -1, names: new Set<string>() };
  let isFound = false;
  /** How many of the open elements are steps. */
  let onPath = 0;

  function note(name: string): void {
    if (onPath === names.length && onPath >= reached.depth) {
      const at = names.length === 0 ? 'the document' : names.join('.');
      if (onPath > reached.depth) reached = { at, depth: onPath, names: new Set() };
      if (reached.names.size < LIMITS.names && name !== '') reached.names.add(name);
    }
  }

  function noteBeside(name: string): void {
    if (beside.size < LIMITS.names) beside.add([...names, name].join('.'));
  }

  return {
    /** The pointer of the element that is entered. */
    enter(name: string, attributes: readonly Attribute[]): string {
      const isStep = onPath === names.length && isSameName(path[onPath] ?? name, name);
      note(name);
      if (onPath === names.length && !isStep) noteBeside(name);

      const count = counts.at(-1)?.get(name) ?? 0;
      counts.at(-1)?.set(name, count + 1);
      const pointer = `${pointers.at(-1)}${pointerStep(name)}/${count}`;
      pointers.push(pointer);
      counts.push(new Map());
      names.push(name);

      if (isStep) onPath += 1;
      if (isStep && onPath === depth) isFound = true;
      else if (isStep) {
        note('');
        for (const one of attributes) if (!one.isNil) noteBeside(one.name);
      }
      return pointer;
    },
    leave(): void {
      if (onPath === names.length) onPath -= 1;
      names.pop();
      pointers.pop();
      counts.pop();
    },
    text(text: string): void {
      if (onPath === names.length && text.trim() !== '') noteBeside('#text');
    },
    isAtEnd: () => onPath === depth && names.length === depth,
    beside: () => [...beside],
    /** An element without any children is an empty list; one that has others shows that the path is wrong. */
    requireFound(): void {
      const isEmptyList = reached.depth === depth - 1 && reached.names.size === 0;
      if (isFound || isEmptyList) return;
      const { at, names } = reached;
      throw unreadable({ code: 'records', path: path.join('.'), at, names: listed([...names]) });
    },
  };
}

/**
 * The path that needs no declaration: the only repeated child of the root that is more than text, the only such child,
 * or the root itself if it has none. Costs a look through the complete document.
 */
async function onlyPath(source: Source, signal: AbortSignal | undefined): Promise<string[]> {
  const counts = new Map<string, number>();
  let names: string[] = [];
  let root = '';
  let isCounted = false;

  const reader = createXmlReader({
    onOpen(name, attributes) {
      if (names.length === 0) root = name;
      names.push(name);
      if (names.length === 2) isCounted = false;
      const isMore = names.length > 2 || (names.length === 2 && attributes.length > 0);
      const [, child = ''] = names;
      if (!isMore || isCounted || (!counts.has(child) && counts.size >= LIMITS.names)) return;
      counts.set(child, (counts.get(child) ?? 0) + 1);
      isCounted = true;
    },
    onClose() {
      names = names.slice(0, -1);
    },
  });
  for await (const chunk of source.content({ signal })) reader.write(chunk.toString());
  reader.end();

  const repeated = [...counts.keys()].filter((name) => (counts.get(name) ?? 0) > 1);
  const [only, second] = repeated.length > 0 ? repeated : [...counts.keys()];
  if (second !== undefined) {
    const found = repeated.length > 0 ? repeated : [...counts.keys()];
    throw unreadable({ code: 'several-lists', names: listed(found) });
  }
  return only === undefined ? [root] : [root, only];
}
