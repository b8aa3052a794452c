import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import type { KeyPath } from './problem.ts';

type Position = { line: number; column: number };
type YamlFault = Position & { message: string };

export type YamlFile = {
  /** The document as plain values; undefined when `broken`. */
  value: unknown;
  faults: readonly YamlFault[];
  /** Whether the text is not one YAML document. */
  broken: boolean;
  /** The position of the value at a path, or of its key; for a missing path, of the nearest one above it. */
  positionOf: (path: KeyPath, at?: 'key' | 'value') => Position;
};

const MOST_BYTES = 1024 * 1024;
/** Maximum uses of anchors: enough for real files, too few to exhaust memory. */
const MOST_ALIASES = 100;
/** Faults that do not change the meaning of the rest of the file. */
const READABLE_FAULTS = ['DUPLICATE_KEY', 'TAG_RESOLVE_FAILED'];
const START: Position = { line: 1, column: 1 };

/** Reads one YAML document with the place of every value. Problems become faults; it never throws. */
export function readYaml(text: string): YamlFile {
  if (text.length > MOST_BYTES) return unusable({ ...START, message: 'is larger than 1 MB' });
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'error',
  });
  const place = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const found = [...document.errors, ...document.warnings];
  const [first] = found.filter(({ code }) => !READABLE_FAULTS.includes(code));
  // What follows is misread, so its faults mean nothing.
  if (first) return unusable({ ...place(offsetIn(first, document)), message: messageOf(first) });
  const faults: YamlFault[] = [
    ...found.map((error) => ({ offset: error.pos[0], message: messageOf(error) })),
    ...keyFaults(document),
  ].map(({ offset, message }) => ({ ...place(offset), message }));

  const positionOf = (path: KeyPath, at: 'key' | 'value' = 'value') =>
    place(offsetOf(document, path, at));
  try {
    const value = document.toJS({ maxAliasCount: MOST_ALIASES });
    return { value, faults, broken: false, positionOf };
  } catch {
    // An alias without an anchor fails here, too.
    if (faults.length > 0) return unusable(...faults);
    return unusable({ ...START, message: `uses anchors more than ${MOST_ALIASES} times` });
  }
}

function unusable(...faults: YamlFault[]): YamlFile {
  return { value: undefined, faults, broken: true, positionOf: () => START };
}

function messageOf({ message }: YAMLError): string {
  return `is not valid YAML: ${message}`;
}

/** Where a quote, brace or bracket without an end begins; the library reports the place where it misses the end. */
function offsetIn({ code, pos: [offset] }: YAMLError, document: Document): number {
  if (code !== 'MISSING_CHAR') return offset;
  let begins = offset;
  visit(document, {
    Node(_, node) {
      const isOpen = isScalar(node) || (isCollection(node) && node.flow === true);
      if (isOpen && node.range?.[1] === offset) begins = node.range[0];
    },
  });
  return begins;
}

/** Unsafe keys, and aliases without a target or into themselves. */
function keyFaults(document: Document): { offset: number; message: string }[] {
  const faults: { offset: number; message: string }[] = [];
  visit(document, {
    Pair(_, { key }) {
      if (!isNode(key)) return;
      const offset = key.range?.[0] ?? 0;
      if (!isScalar(key) || key.value === null)
        faults.push({ offset, message: 'a key must be a plain word' });
      else if (key.value === '__proto__') faults.push({ offset, message: 'this name is reserved' });
    },
    Alias(_, alias, ancestors) {
      const target = alias.resolve(document);
      const offset = alias.range?.[0] ?? 0;
      if (target === undefined)
        faults.push({ offset, message: `there is no anchor &${alias.source} before this` });
      else if (ancestors.includes(target))
        faults.push({ offset, message: `&${alias.source} contains itself` });
    },
  });
  return faults;
}

function offsetOf(document: Document, path: KeyPath, at: 'key' | 'value'): number {
  const start = document.contents?.range?.[0] ?? 0;
  let place = { key: start, value: start };
  let node: unknown = document.contents;
  for (const segment of path) {
    const step = stepInto(isAlias(node) ? node.resolve(document) : node, segment);
    if (step === undefined) return place.key;
    const value = rangeOf(step.value);
    const key = step.key?.range?.[0] ?? value ?? place.key;
    place = { key, value: value ?? key };
    node = step.value;
  }
  return place[at];
}

function stepInto(
  node: unknown,
  segment: string | number,
): { key?: Node; value: unknown } | undefined {
  if (isSeq(node) && typeof segment === 'number') return { value: node.items[segment] };
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(segment));
  if (!isPair(pair)) return undefined;
  return isNode(pair.key) ? { key: pair.key, value: pair.value } : { value: pair.value };
}

function rangeOf(value: unknown): number | undefined {
  return isNode(value) ? value.range?.[0] : undefined;
}
