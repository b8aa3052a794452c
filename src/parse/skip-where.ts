import type { Mapping } from '../config/config.ts';
import { errorColumnOf } from '../order/fixing.ts';
import { plainName, trimBlanks } from '../order/text.ts';
import { find, isObject, textOf } from './find-key.ts';

/** A column or key of `skipWhere`, and the values that leave a row or an object out. */
type Rule = { names: readonly [string]; plain: string; values: ReadonlySet<string> };

function rulesOf({ skipWhere }: Mapping): Rule[] {
  return Object.entries(skipWhere).map(([name, values]) => ({
    names: [name],
    plain: plainName(name),
    values: new Set(values),
  }));
}

/** Finds the rows of a table that `skipWhere` leaves out. */
export function watchSkippedRows(mapping: Mapping) {
  const rules = rulesOf(mapping);
  let known: readonly string[] | undefined;
  let columns: { at: number; values: ReadonlySet<string> }[] = [];
  const columnsOf = (names: readonly string[], { plain }: Rule) =>
    names.flatMap((name, at) => (plainName(name) === plain ? [at] : []));

  return {
    hasRules: rules.length > 0,
    /** Not a row with too few or too many cells, which may be shifted. */
    skips(cells: readonly string[], header: readonly string[]): boolean {
      if (rules.length === 0 || cells.length !== header.length) return false;
      if (header !== known) {
        // Of two columns with this name, nobody knows which one counts.
        columns = rules.flatMap((rule) => {
          const [at = -1, ...others] = columnsOf(header, rule);
          return at < 0 || others.length > 0 ? [] : [{ at, values: rule.values }];
        });
        known = header;
      }
      return columns.some(({ at, values }) => values.has(trimBlanks(cells[at] ?? '')));
    },
    warnings: (skipped: number, header: readonly string[]) => [
      ...warningsOf(
        skipped,
        ['row', 'rows'],
        rules.filter((rule) => columnsOf(header, rule).length !== 1),
      ),
      ...missingCalledOff(mapping, header),
    ],
  };
}

/** Finds the objects that `skipWhere` leaves out, each an order or a row. Call `skips` for each object once. */
export function watchSkippedObjects(mapping: Mapping) {
  const rules = rulesOf(mapping);
  const missing = new Set(rules);
  let [seen, skipped] = [0, 0];

  function has(value: object, rule: Rule): boolean {
    const found = find(value, rule.names);
    if (found.value === undefined || found.isAmbiguous) return false;
    missing.delete(rule);
    const text = typeof found.value === 'boolean' ? String(found.value) : textOf(found.value);
    return text !== undefined && rule.values.has(text);
  }

  return {
    skips(value: unknown): boolean {
      seen += 1;
      // Every rule looks, so that each name that the file has is known.
      const isSkipped = rules.length > 0 && isObject(value) && rules.filter((rule) => has(value, rule)).length > 0;
      if (isSkipped) skipped += 1;
      return isSkipped;
    },
    warnings: () => warningsOf(skipped, ['object', 'objects'], seen === 0 ? [] : [...missing]),
  };
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

function warningsOf(skipped: number, [one, several]: readonly [string, string], missing: readonly Rule[]): string[] {
  const what =
    skipped === 1 ? `One ${one} that matches skipWhere was` : `${skipped} ${several} that match skipWhere were`;
  const names = missing.map(({ names: [name] }) => JSON.stringify(name)).join(', ');
  return [
    ...(skipped === 0 ? [] : [`${what} skipped.`]),
    ...(missing.length === 0
      ? []
      : [`skipWhere names ${names}, which this file does not have, or has more than once.`]),
  ];
}
