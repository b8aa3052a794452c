import type { Mapping } from '../config/config.ts';
import { sourceOfNumber } from '../order/quantity.ts';
import type { Place, Problem } from '../order/record.ts';
import { PURCHASE_ORDER } from '../order/record-kind.ts';
import { pointerStep } from '../order/text.ts';
import { calledOffRules, ruleFor } from '../parse/columns.ts';
import { find, isObject, shown, TEXT_KEY, textOf } from '../parse/find-key.ts';
import { isAbsent, type ObjectRules, problemAt } from './object-fields.ts';
import { problemOf } from './problem.ts';
import { saidBeside } from './said-beside.ts';

/** Reports what a record or an item says against itself beside its fields: a status, a mark, a unit. */
export function reportSaid(
  value: object,
  quantity: string,
  place: Place,
  rules: ObjectRules,
  problems: Problem[],
): void {
  reportCalledOff(value, place, rules, problems);
  if (rules.mapping.otherReadings === 'allow') return;
  const named = calledOffRules(rules.mapping);
  for (const key in value) {
    const inner: unknown = Reflect.get(value, key);
    // The attributes of an XML element.
    if (isObject(inner) && TEXT_KEY in inner)
      reportSaid(inner, quantity, { ...place, pointer: pointerTo(place, key) }, rules, problems);
    const code = saidBeside(key, inner, quantity);
    if (code === undefined || find(value, rules.mapping.fields.orderState).name === key) continue;
    if (code === 'called-off' && ruleFor(key, named) !== undefined) continue;
    problems.push(problemOf(code, { line: place.line, pointer: pointerTo(place, key) }, key, shown(inner)));
  }
}

/** Reports the keys of `calledOff` whose value says that the record or item is not wanted. */
function reportCalledOff(value: object, place: Place, { mapping }: ObjectRules, problems: Problem[]): void {
  for (const { name, holds } of calledOffRules(mapping)) {
    const found = find(value, [name]);
    const { value: said } = found;
    const text = typeof said === 'boolean' ? String(said) : (textOf(said) ?? sourceOfNumber(said) ?? '');
    if (found.isAmbiguous) problems.push(problemAt('ambiguous-key', found, place, found.keys));
    else if (text !== '' && holds(text)) problems.push(problemAt('called-off', found, place, shown(found.value)));
  }
}

function pointerTo({ pointer = '' }: Place, key: string): string {
  return `${pointer}${pointerStep(key)}`;
}

/** Reports a state in which no order can be created. */
export function stateIn(
  value: object,
  place: Place,
  mapping: Mapping,
  problems: Problem[],
  names: readonly string[] = mapping.fields.orderState,
): void {
  const found = find(value, names);
  const preset = mapping.defaults.orderState ?? PURCHASE_ORDER.state;
  const state = isAbsent(found) ? preset : textOf(found.value);
  if (found.isAmbiguous) problems.push(problemAt('ambiguous-key', found, place, found.keys));
  else if (state !== preset) problems.push(problemAt('wrong-state', found, place, state ?? shown(found.value)));
}
