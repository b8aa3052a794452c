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
type YamlFault = Position & { message: string; hint?: string };

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
const EQUALLY = 'indent the keys of one level equally';
const WORDINGS: Partial<Record<YAMLError['code'], { message: string; hint: string }>> = {
  TAB_AS_INDENT: { message: 'a tab cannot indent YAML', hint: 'use spaces' },
  TAG_RESOLVE_FAILED: {
    message: 'YAML tags (!name) are not supported',
    hint: 'a text beginning with ! needs quotes',
  },
  BAD_INDENT: {
    message: 'this is not indented like the rest of its level',
    hint: EQUALLY,
  },
  BAD_DQ_ESCAPE: {
    message: 'a backslash has a special meaning between double quotes',
    hint: "use single quotes: '…'",
  },
  BAD_SCALAR_START: {
    message: 'a text cannot begin with this character',
    hint: 'put the text in quotes',
  },
  MULTILINE_IMPLICIT_KEY: {
    message: 'a line without a key and a value',
    hint: 'write a space after the colon: key: value',
  },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'a second key within a value',
    hint: 'put a value that contains a colon and a space in quotes; indent the keys of one level equally',
  },
  BLOCK_IN_FLOW: {
    message: 'a comma is missing within this value',
    hint: 'write a comma before the next key, or put a text that contains a colon and a space in quotes',
  },
  MULTIPLE_DOCS: { message: 'a second document begins here', hint: 'remove the --- line' },
};
const DASH_IN_FLOW = {
  message: 'a "- " cannot begin an entry between braces or brackets',
  hint: 'write a list as [a, b]',
};
const TEXT_BEHIND = {
  message: 'a text follows the end of the value',
  hint: 'put the complete value in quotes',
};
const START: Position = { line: 1, column: 1 };

/** Reads one YAML document with the place of every value. Problems become faults; it never throws. */
export function readYaml(text: string): YamlFile {
  if (text.length > MOST_BYTES) return unusable([{ ...START, message: 'is larger than 1 MB' }]);
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
  const open = found.some(isTooDeep) ? undefined : found.find(isNeverClosed);
  // What follows is misread, so its faults mean nothing.
  if (open) {
    const offset = openingOf(open, document);
    if (isClosed(text, offset))
      return unusable([{ ...place(open.pos[0]), ...outdented(text[offset]) }]);
    return unusable([{ ...place(offset), ...neverClosed(open, offset, text) }]);
  }
  const faults = onceEach(
    causesIn(found).map((error) => {
      const { offset, ...said } = faultOf(error, text);
      return { ...place(offset), ...said };
    }),
  );
  if (found.some((error) => !READABLE_FAULTS.includes(error.code)))
    return unusable(faults.slice(0, 20));

  faults.push(
    ...keyFaults(document).map(({ offset, ...fault }) => ({ ...place(offset), ...fault })),
  );
  const positionOf = (path: KeyPath, at: 'key' | 'value' = 'value') =>
    place(offsetOf(document, path, at));
  try {
    return {
      value: document.toJS({ maxAliasCount: MOST_ALIASES }),
      faults,
      broken: false,
      positionOf,
    };
  } catch {
    // An alias without an anchor fails here, too.
    if (faults.length > 0) return unusable(faults);
    return unusable([{ ...START, message: `uses anchors more than ${MOST_ALIASES} times` }]);
  }
}

function unusable(faults: YamlFault[]): YamlFile {
  return { value: undefined, faults, broken: true, positionOf: () => START };
}

/** One fault for each place, with what to do if any says that: the library reports one cause in several ways. */
function onceEach(faults: readonly YamlFault[]): YamlFault[] {
  const places = Map.groupBy(faults, ({ line, column }) => `${line}:${column}`);
  return [...places.values()].flatMap(
    (all) => all.find(({ hint }) => hint !== undefined) ?? all.slice(0, 1),
  );
}

/** Without what only follows from another fault. */
function causesIn(found: readonly YAMLError[]): readonly YAMLError[] {
  const alone = found.find(isTooDeep) ?? found.find(({ code }) => code === 'TAB_AS_INDENT');
  if (alone) return [alone];
  const values = found.filter(({ code }) => code === 'BLOCK_IN_FLOW').map(({ pos }) => pos);
  const keys = found
    .filter(({ code }) => code === 'BLOCK_AS_IMPLICIT_KEY')
    .map(({ pos: [at] }) => at);
  return found.filter(({ code, pos: [at] }) => {
    if (code === 'MULTILINE_IMPLICIT_KEY' && keys.includes(at)) return false;
    return !values.some(([from, to]) => at > from && at <= to);
  });
}

function isTooDeep({ message }: YAMLError): boolean {
  return message.startsWith('Maximum call stack');
}

type Said = { message: string; hint?: string };

function faultOf(error: YAMLError, text: string): Said & { offset: number } {
  const { code, pos } = error;
  // Below a key without a value, the library reports the end of that line.
  if (code === 'DUPLICATE_KEY') {
    const offset = pos[0] + (/^(?:\s|#.*)*/.exec(text.slice(pos[0]))?.[0].length ?? 0);
    return { offset, message: `the key ${keyAt(text, offset)} is repeated here` };
  }
  // A line that is indented too far continues the value above it, where the library reports it.
  const [deeper] = /^[^\n]*(?<!:)\r?\n[ \t]+(?=[^\s:#]+:(?:\s|$))/.exec(text.slice(pos[0])) ?? [];
  if (code === 'BLOCK_AS_IMPLICIT_KEY' && deeper !== undefined && !/:\s/.test(deeper.trim())) {
    const offset = pos[0] + deeper.length;
    return {
      offset,
      message: `the key ${keyAt(text, offset)} is indented further than the line above`,
      hint: EQUALLY,
    };
  }
  return { offset: pos[0], ...sentence(error, text) };
}

const keyAt = (text: string, offset: number) => /^[^\s:,{}]*/.exec(text.slice(offset))?.[0] ?? '';

function sentence(error: YAMLError, text: string): Said {
  const { code, message, pos } = error;
  if (/^Unexpected .* at node end$/.test(message)) return TEXT_BEHIND;
  if (code === 'BLOCK_IN_FLOW' && /^-\s/.test(text.slice(pos[0]))) return DASH_IN_FLOW;
  const wording = WORDINGS[message.startsWith('Sequence item without') ? 'BAD_INDENT' : code];
  if (wording !== undefined) return wording;
  return {
    message: isTooDeep(error) ? 'is nested too deeply' : `is not valid YAML: ${message}`,
  };
}

/** Whether a quote, brace or bracket has no end. */
function isNeverClosed({ message }: YAMLError): boolean {
  return /^Missing closing ["']|^Flow .* end with a [}\]]$/.test(message);
}

/** Where a quote, brace or bracket begins; the library reports only the place where it misses the end. */
function openingOf({ message, pos: [end] }: YAMLError, document: Document): number {
  const isQuote = message.startsWith('Missing');
  let offset = end;
  visit(document, {
    Node(_, node) {
      const isOfKind = isQuote ? isScalar(node) : isCollection(node) && node.flow === true;
      if (isOfKind && node.range?.[1] === end) offset = node.range[0];
    },
  });
  return offset;
}

/** Whether the brace or bracket at an offset has an end, so that only a line of it has the wrong indentation. */
function isClosed(text: string, offset: number): boolean {
  if (!/[[{]/.test(text[offset] ?? '')) return false;
  const plain = text.slice(offset).replace(/(?<=[\s,[{:])(?:"(?:\\.|[^"\\])*"|'[^']*'|#.*)/g, '');
  let depth = 0;
  for (const [sign] of plain.matchAll(/[[\]{}]/g)) {
    depth += sign === '[' || sign === '{' ? 1 : -1;
    if (depth === 0) return true;
  }
  return false;
}

function outdented(opening = ''): Said {
  const message = `this line is within the ${opening} of a line above, and is not indented`;
  return { message, hint: 'indent it further than the key above' };
}

function neverClosed(error: YAMLError, offset: number, text: string): Said {
  const message = `this ${text[offset]} is never closed`;
  const hasComment =
    error.message.startsWith('Flow') && /\s#/.test(text.slice(offset, error.pos[0]));
  return hasComment
    ? { message, hint: 'a space and a # begin a comment: put such a text in quotes' }
    : { message };
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
