import type { Mapping } from '../config/config.ts';
import { isNoCancellation } from '../order/cancellation-names.ts';
import { errorColumnOf } from '../order/fixing.ts';
import { plainName, shorten, trimBlanks } from '../order/text.ts';
import { columnNamed, refuseMissing } from './columns.ts';
import { find, isObject, textOf } from './find-key.ts';

/**
 * A column or key of `skipWhere` or `onlyWhere`, and its values. `skipWhere` leaves out what has one of them, `onlyWhere` what
 * has none of them, except a value that `calledOff` names for the same column. `values`: how often it left out which.
 */
type Rule = {
  by: 'skipWhere' | 'onlyWhere';
  names: readonly [string];
  plain: string;
  values: Map<string, number>;
} & {
  has(text: string): boolean;
};

/** What left a row or an object out: the column or key as the file names it, and its value. */
export type Because = { by: Rule['by']; column: string; value: string };

export type OnLeftOut<Row> = (row: Row, because: Because) => void;

function rulesOf(mapping: Mapping): Rule[] {
  return (['skipWhere', 'onlyWhere'] as const).flatMap((by) =>
    Object.entries(mapping[by]).map(([name, values]) => {
      const called = by === 'onlyWhere' ? ruleFor(name, calledOffRules(mapping)) : undefined;
      const has = (text: string) =>
        values.includes(text) || (text !== '' && called?.holds(text) === true);
      return {
        by,
        names: [name] as const,
        plain: plainName(name),
        has,
        values: new Map<string, number>(),
      };
    }),
  );
}

/**
 * Decides about rows or objects, one after another. Under `onlyWhere`, an empty value counts as that of the row above of the
 * same order: many lists have it only in the first row.
 */
function createDecision() {
  let last = { number: '', isKept: new Map<Rule, boolean>(), isLeftOut: false };
  const partly = new Set<string>();

  /** The rule that leaves it out, if any. */
  function decide(
    rules: readonly Rule[],
    number: string,
    textFor: (rule: Rule) => string | undefined,
  ) {
    const isSame = number === '' || number === last.number;
    const isKept = new Map<Rule, boolean>();
    for (const rule of rules) {
      const text = textFor(rule) ?? '';
      const isBlank = rule.by === 'onlyWhere' && text === '' && isSame;
      isKept.set(
        rule,
        isBlank ? last.isKept.get(rule) === true : rule.has(text) === (rule.by === 'onlyWhere'),
      );
    }
    const leftOutBy = rules.find((rule) => isKept.get(rule) === false);
    const isLeftOut = leftOutBy !== undefined;
    const isPartly = number !== '' && number === last.number && isLeftOut !== last.isLeftOut;
    if (isPartly && partly.size < MOST_PARTLY) partly.add(number);
    last = { number: number === '' ? last.number : number, isKept, isLeftOut };
    if (leftOutBy === undefined) return undefined;
    const text = textFor(leftOutBy) ?? '';
    const { values } = leftOutBy;
    const short = shorten(text, 40);
    const value = values.has(short) || values.size < MOST_VALUES ? short : OTHERS;
    values.set(value, (values.get(value) ?? 0) + 1);
    return { by: leftOutBy.by, rule: leftOutBy, value: text };
  }

  return { decide, partly };
}

/** Values that are counted apart, orders that are kept, and those that are named. */
const MOST_VALUES = 10;
const MOST_PARTLY = 1_000;
const MOST_NAMED = 5;
const OTHERS = 'others';
const NOTHING: Because = { by: 'skipWhere', column: '', value: '' };

/** Finds the rows of a table that `skipWhere` or `onlyWhere` leaves out. */
export function watchSkippedRows(mapping: Mapping) {
  const rules = rulesOf(mapping);
  const { decide, partly } = createDecision();
  let known: readonly string[] | undefined;
  let at = new Map<Rule, number>();
  let number = -1;
  let because: Because = NOTHING;
  const columnsOf = (names: readonly string[], { plain }: Rule) =>
    names.flatMap((name, index) => (plainName(name) === plain ? [index] : []));

  /** Of two columns with one name, nobody knows which one counts. */
  function look(header: readonly string[], line: number): void {
    const only = rules.map((rule) => [rule, columnsOf(header, rule)] as const);
    at = new Map(
      only.flatMap(([rule, [first, ...others]]) =>
        first === undefined || others.length > 0 ? [] : [[rule, first]],
      ),
    );
    refuseMissing(
      rules.filter((rule) => !at.has(rule)),
      header,
      line,
    );
    number = columnNamed('purchaseOrderNumber', header, mapping) ?? -1;
    known = header;
  }

  return {
    hasRules: rules.length > 0,
    /** Not a row with too few or too many cells, which may be shifted. PoSyncError `unreadable-column-missing`. */
    skips(cells: readonly string[], header: readonly string[], line: number): boolean {
      if (rules.length === 0 || cells.length !== header.length) return false;
      if (header !== known) look(header, line);
      const textAt = (column: number | undefined) => trimBlanks(cells[column ?? -1] ?? '');
      const found = decide([...at.keys()], textAt(number), (rule) => textAt(at.get(rule)));
      if (found)
        because = {
          by: found.by,
          column: header[at.get(found.rule) ?? -1] ?? '',
          value: found.value,
        };
      return found !== undefined;
    },
    /** Of the row that was left out last. */
    because: () => because,
    warnings(header: readonly string[]): string[] {
      const missing = rules.filter((rule) => columnsOf(header, rule).length !== 1);
      return [
        ...warningsOf(rules, ['row', 'rows'], missing),
        ...partlyText(partly),
        ...missingCalledOff(mapping, header),
      ];
    },
  };
}

/** Finds the objects that `skipWhere` or `onlyWhere` leaves out, each an order or a row. Call `skips` for each object once. */
export function watchSkippedObjects(mapping: Mapping) {
  const rules = rulesOf(mapping);
  const missing = new Set(rules);
  const { decide, partly } = createDecision();
  let seen = 0;
  let because: Because = NOTHING;
  const numbers = mapping.fields.purchaseOrderNumber;

  function textFor(value: object, rule: Rule): string | undefined {
    const found = find(value, rule.names);
    if (found.value === undefined || found.isAmbiguous) return undefined;
    missing.delete(rule);
    return typeof found.value === 'boolean' ? String(found.value) : textOf(found.value);
  }

  return {
    skips(value: unknown): boolean {
      seen += 1;
      if (rules.length === 0 || !isObject(value)) return false;
      const found = decide(rules, textOf(find(value, numbers).value) ?? '', (rule) =>
        textFor(value, rule),
      );
      if (found)
        because = { by: found.by, column: find(value, found.rule.names).name, value: found.value };
      return found !== undefined;
    },
    /** Of the object that was left out last. */
    because: () => because,
    /** PoSyncError `unreadable-column-missing`, if no object has a key of `onlyWhere`. */
    warnings(): string[] {
      const absent = seen === 0 ? [] : [...missing];
      refuseMissing(absent);
      return [...warningsOf(rules, ['object', 'objects'], absent), ...partlyText(partly)];
    },
  };
}

/** A person may not expect that a part of an order is sent. */
function partlyText(partly: ReadonlySet<string>): string[] {
  if (partly.size === 0) return [];
  const first = [...partly].slice(0, MOST_NAMED).map((one) => JSON.stringify(shorten(one, 60)));
  const more = partly.size - MOST_NAMED;
  const named = `${first.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return [
    `Only some rows of these orders were skipped, and the others count as the complete order: ${named}.`,
  ];
}

const WHICH = {
  skipWhere: ['that matches skipWhere was', 'that match skipWhere were'],
  onlyWhere: ['without a value of onlyWhere was', 'without a value of onlyWhere were'],
} as const;

function warningsOf(
  rules: readonly Rule[],
  [one, several]: [string, string],
  missing: readonly Rule[],
): string[] {
  const names = missing.map(({ names: [name] }) => JSON.stringify(name)).join(', ');
  const skipped = (['skipWhere', 'onlyWhere'] as const).flatMap((by) => {
    const values = rules.flatMap((rule) => (rule.by === by ? [...rule.values] : []));
    const count = values.reduce((sum, [, times]) => sum + times, 0);
    if (count === 0) return [];
    const which = by === 'onlyWhere' ? `: ${values.map(timesText).join(', ')}` : '';
    return [
      `${count === 1 ? `One ${one} ${WHICH[by][0]}` : `${count} ${several} ${WHICH[by][1]}`} skipped${which}.`,
    ];
  });
  const absent = `skipWhere names ${names}, which this file does not have, or has more than once.`;
  return missing.length === 0 ? skipped : [...skipped, absent];
}

/** `"Entwurf" 3`: a value that was meant may be among them, in another case. */
function timesText([value, times]: [value: string, times: number]): string {
  return `${value === '' ? '(empty)' : value === OTHERS ? value : JSON.stringify(value)} ${times}`;
}

/** A column or key of `calledOff`. It replaces what its name says about cancelling. */
export type CalledOffRule = { name: string; plain: string; holds(text: string): boolean };

const known = new WeakMap<Mapping['calledOff'], readonly CalledOffRule[]>();

/** The rules of a mapping: `any` is every value except a no, `never` is none, other values are compared without case. */
export function calledOffRules({ calledOff }: Mapping): readonly CalledOffRule[] {
  const rules =
    known.get(calledOff) ?? Object.entries(calledOff).map(([name, values]) => ruleOf(name, values));
  known.set(calledOff, rules);
  return rules;
}

function ruleOf(name: string, values: readonly string[]): CalledOffRule {
  const [only] = values.length === 1 ? values : [];
  const wanted = new Set(values.map((value) => value.toLowerCase()));
  const holds = (text: string) => {
    if (only === 'any') return !isNoCancellation(text);
    return only !== 'never' && wanted.has(text.toLowerCase());
  };
  return { name, plain: plainName(name), holds };
}

/** The rule for a column or key, if it has one. */
export function ruleFor(name: string, rules: readonly CalledOffRule[]): CalledOffRule | undefined {
  if (rules.length === 0) return undefined;
  const plain = plainName(name);
  return rules.find((rule) => rule.plain === plain);
}

/** A renamed column would let canceled rows through; a fix file of objects does not have it. */
function missingCalledOff({ calledOff }: Mapping, header: readonly string[]): string[] {
  if (header.some((name) => errorColumnOf(name) !== undefined)) return [];
  const columns = new Set(header.map(plainName));
  const missing = Object.entries(calledOff).filter(
    ([name, values]) => values.join() !== 'never' && !columns.has(plainName(name)),
  );
  if (missing.length === 0) return [];
  const names = missing.map(([name]) => JSON.stringify(name)).join(', ');
  return [`calledOff names ${names}, which this file does not have: canceled rows may be sent.`];
}
