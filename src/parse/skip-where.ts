import type { Mapping } from '../config/config.ts';
import { plainName, trimBlanks } from '../order/text.ts';
import { calledOffRules, columnNamed, missingCalledOff, refuseMissing, ruleFor } from './columns.ts';
import { find, isObject, textOf } from './find-key.ts';

/**
 * A column or key of `skipWhere` or `onlyWhere`, and its values. `skipWhere` leaves out what has one of them, `onlyWhere` what
 * has none of them, except a value that `calledOff` names for the same column. `count`: what it left out.
 */
type Rule = { by: 'skipWhere' | 'onlyWhere'; names: readonly [string]; plain: string; count: number } & {
  has(text: string): boolean;
};

function rulesOf(mapping: Mapping): Rule[] {
  return (['skipWhere', 'onlyWhere'] as const).flatMap((by) =>
    Object.entries(mapping[by]).map(([name, values]) => {
      const called = by === 'onlyWhere' ? ruleFor(name, calledOffRules(mapping)) : undefined;
      const has = (text: string) => values.includes(text) || (text !== '' && called?.holds(text) === true);
      return { by, names: [name] as const, plain: plainName(name), has, count: 0 };
    }),
  );
}

/**
 * Decides about rows or objects, one after another. Under `onlyWhere`, an empty value counts as that of the row above of the
 * same order: many lists have it only in the first row.
 */
function createDecision() {
  let last = { number: '', isKept: new Map<Rule, boolean>() };
  return (rules: readonly Rule[], number: string, textFor: (rule: Rule) => string | undefined): boolean => {
    const isSame = number === '' || number === last.number;
    const isKept = new Map<Rule, boolean>();
    for (const rule of rules) {
      const text = textFor(rule) ?? '';
      const isBlank = rule.by === 'onlyWhere' && text === '' && isSame;
      isKept.set(rule, isBlank ? last.isKept.get(rule) === true : rule.has(text) === (rule.by === 'onlyWhere'));
    }
    last = { number: number === '' ? last.number : number, isKept };
    const leftOutBy = rules.find((rule) => isKept.get(rule) === false);
    if (leftOutBy !== undefined) leftOutBy.count += 1;
    return leftOutBy !== undefined;
  };
}

/** Finds the rows of a table that `skipWhere` or `onlyWhere` leaves out. */
export function watchSkippedRows(mapping: Mapping) {
  const rules = rulesOf(mapping);
  const decide = createDecision();
  let known: readonly string[] | undefined;
  let at = new Map<Rule, number>();
  let number = -1;
  const columnsOf = (names: readonly string[], { plain }: Rule) =>
    names.flatMap((name, index) => (plainName(name) === plain ? [index] : []));

  /** Of two columns with one name, nobody knows which one counts. */
  function look(header: readonly string[], line: number): void {
    const only = rules.map((rule) => [rule, columnsOf(header, rule)] as const);
    at = new Map(
      only.flatMap(([rule, [first, ...others]]) => (first === undefined || others.length > 0 ? [] : [[rule, first]])),
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
      return decide([...at.keys()], textAt(number), (rule) => textAt(at.get(rule)));
    },
    warnings(header: readonly string[]): string[] {
      const missing = rules.filter((rule) => columnsOf(header, rule).length !== 1);
      return [...warningsOf(rules, ['row', 'rows'], missing), ...missingCalledOff(mapping, header)];
    },
  };
}

/** Finds the objects that `skipWhere` or `onlyWhere` leaves out, each an order or a row. Call `skips` for each object once. */
export function watchSkippedObjects(mapping: Mapping) {
  const rules = rulesOf(mapping);
  const missing = new Set(rules);
  const decide = createDecision();
  let seen = 0;
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
      return decide(rules, textOf(find(value, numbers).value) ?? '', (rule) => textFor(value, rule));
    },
    /** PoSyncError `unreadable-column-missing`, if no object has a key of `onlyWhere`. */
    warnings(): string[] {
      const absent = seen === 0 ? [] : [...missing];
      refuseMissing(absent);
      return warningsOf(rules, ['object', 'objects'], absent);
    },
  };
}

const WHICH = {
  skipWhere: ['that matches skipWhere was', 'that match skipWhere were'],
  onlyWhere: ['without a value of onlyWhere was', 'without a value of onlyWhere were'],
} as const;

function warningsOf(rules: readonly Rule[], [one, several]: [string, string], missing: readonly Rule[]): string[] {
  const names = missing.map(({ names: [name] }) => JSON.stringify(name)).join(', ');
  const skipped = (['skipWhere', 'onlyWhere'] as const).flatMap((by) => {
    const count = rules.reduce((sum, rule) => sum + (rule.by === by ? rule.count : 0), 0);
    if (count === 0) return [];
    return [count === 1 ? `One ${one} ${WHICH[by][0]} skipped.` : `${count} ${several} ${WHICH[by][1]} skipped.`];
  });
  const absent = `skipWhere names ${names}, which this file does not have, or has more than once.`;
  return missing.length === 0 ? skipped : [...skipped, absent];
}
