import type { Mapping } from '../../config/config.ts';
import type { Problem } from '../../order/record.ts';
import { plainName, pointerStep, shorten, trimBlanks } from '../../order/text.ts';
import { inOneLine } from '../../parse/unreadable.ts';
import { whyNotWanted } from '../../validate/said-beside.ts';

/** Columns whose advice is shown, and values of each; a file may have any number of them. */
const MOST = 5;
/** Longer values are remarks, which seldom occur twice. */
const LONGEST = 40;
/** A name that is cut off finds nothing. */
const LONGEST_NAME = 256;

/** Finds the mapping of a source, where it is known. */
export type MappingOf = (source: string) => Mapping | undefined;

/** What is said about the files of one mapping: the values of each column that are held. */
type Held = { sources: Set<string>; columns: Map<string, Set<string>>; isFinal: boolean };

/**
 * Collects the operator's part of what is wrong: what the mapping can do about it, each with a line of YAML, with what the
 * mapping has there already. Fix files and pages of clerks repeat their messages for every row, so these do not contain it.
 */
export function createAdvice(mappingOf: MappingOf = () => undefined) {
  const found = new Map<Mapping | undefined, Held>();
  let hasBlank = false;

  function addOne(problem: Problem, source: string): void {
    const { field, value } = problem;
    const mapping = mappingOf(source);
    const held = found.get(mapping) ?? { sources: new Set(), columns: new Map(), isFinal: false };
    found.set(mapping, held);
    held.sources.add(source);
    if (!held.columns.has(field) && held.columns.size === MOST) return;
    const values = held.columns.get(field) ?? new Set();
    held.columns.set(field, values);
    const text = trimBlanks(value);
    const mayLeaveOut =
      text !== '' && text.length <= LONGEST && !/\p{Cc}/u.test(text) && !isInItem(problem, mapping);
    if (values.size < MOST && mayLeaveOut) values.add(text);
    if (whyNotWanted(field, value) === 'ended') held.isFinal = true;
  }

  return {
    /** `isNameless`: they are of a row without an order number. */
    add(problems: readonly Problem[] = [], source = '', { isNameless = false } = {}): void {
      for (const one of problems) {
        if (one.code === 'called-off') addOne(one, source);
        if (isNameless && one.code === 'missing' && one.pointer === undefined && one.value === '')
          hasBlank = true;
      }
    },
    lines: (): string[] => [
      ...[...found].flatMap(([mapping, held]) => adviceLines(mapping, held, found.size > 1)),
      ...(hasBlank ? [FILL_DOWN] : []),
    ],
  };
}

/** Whether it is of an item in an object: `skipWhere` leaves out orders, and finds no key there. */
function isInItem({ field, pointer = '' }: Problem, mapping: Mapping | undefined): boolean {
  const own = field.split('.').map(pointerStep).join('');
  const at = pointer.endsWith(own) ? pointer.slice(0, pointer.length - own.length) : pointer;
  const list = /^(.*)\/\d+$/.exec(at)?.[1];
  if (list === undefined) return false;
  const ends = (name: string) =>
    plainName(list).endsWith(plainName(name.split('.').map(pointerStep).join('')));
  const isOfRecords = mapping?.records !== undefined && !/\/\d/.test(list) && ends(mapping.records);
  return !isOfRecords && (mapping?.fields.items ?? ['items']).some(ends);
}

const FILL_DOWN =
  'no order number: if only the first row of each order has it, as with merged cells, add to the mapping: fillDown: true';

function adviceLines(
  mapping: Mapping | undefined,
  { columns, isFinal, sources }: Held,
  isOneOfMany: boolean,
): string[] {
  const where = isOneOfMany ? `the mapping of ${[...sources].join(', ')}` : 'the mapping';
  const set = (
    key: 'skipWhere' | 'calledOff',
    values: ReadonlyMap<string, readonly string[]>,
  ): string => {
    const own = mapping?.[key] ?? {};
    const merged = `${key}: { ${merge(own, values, key).join(', ')} }`;
    return Object.keys(own).length === 0
      ? `add to ${where}: ${merged}`
      : `in ${where}, replace ${key} by: ${merged}`;
  };
  const named = new Map(
    [...columns].flatMap(([field, all]) => (all.size > 0 ? [[field, [...all]]] : [])),
  );
  const never = new Map([...columns.keys()].map((field) => [field, ['never']]));
  const also = isFinal ? ', also those that cancel an order that was sent' : '';
  const skip = `to leave such rows and orders out without a report${also}, ${set('skipWhere', named)}`;
  const send = `to send them, because the column means something else, ${set('calledOff', never)}`;
  return [...(named.size === 0 ? [] : [skip]), send].map((text) => `called-off: ${text}`);
}

/** The rules of a mapping with others, as YAML: a key that is written twice is an error, and one in its place loses its rules. */
function merge(
  own: Mapping['skipWhere'],
  more: ReadonlyMap<string, readonly string[]>,
  key: string,
): string[] {
  const added = new Map([...more].map(([name, values]) => [plainName(name), values]));
  const before = Object.entries(own).map(([name, values]) => {
    const others = added.get(plainName(name)) ?? [];
    return `${quoted(name)}: ${listed(key === 'calledOff' && others.length > 0 ? others : [...values, ...others])}`;
  });
  const known = new Set(Object.keys(own).map(plainName));
  const rest = [...more].filter(([name]) => !known.has(plainName(name)));
  return [...before, ...rest.map(([name, values]) => `${yamlName(name)}: ${listed(values)}`)];
}

/** `any` and `never` are words of the configuration. */
function listed(values: readonly string[]): string {
  const [first = ''] = values;
  if (values.length === 1 && /^(?:any|never)$/.test(first)) return first;
  return `[${[...new Set(values)].map(quoted).join(', ')}]`;
}

const quoted = (text: string) => JSON.stringify(text);
const yamlName = (name: string) => quoted(shorten(inOneLine(name), LONGEST_NAME));
