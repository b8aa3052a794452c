import type { Mapping } from '../config/config.ts';
import { sourceOfNumber } from '../order/quantity.ts';
import type { Place, Problem } from '../order/record.ts';
import { plainName, pointerStep } from '../order/text.ts';
import { find, isObject, shown, TEXT_KEY, textOf } from '../parse/find-key.ts';
import { calledOffRules, ruleFor } from '../parse/skip-where.ts';
import { type ObjectRules, problemAt } from './object-fields.ts';
import { problemOf } from './problem.ts';
import { canSay, saidBeside } from './said-beside.ts';

/** Reports what a record or an item says against itself beside its fields, also a level deeper: a status, a mark, a unit. */
export function reportSaid(
  value: object,
  quantity: string,
  place: Place,
  rules: ObjectRules,
  problems: Problem[],
): void {
  const named = calledOffRules(rules.mapping);
  const allows = rules.mapping.otherReadings === 'allow';

  function look(inner: object, path: string, pointer: string, depth: number): void {
    reportCalledOff(inner, { ...place, pointer }, rules, problems);
    if (allows) return;
    for (const key in inner) {
      const one: unknown = Reflect.get(inner, key);
      if (isObject(one) && (TEXT_KEY in one || (depth < DEEPEST && isAboutRecord(path + key, key, rules.mapping))))
        look(one, `${path + key}.`, pointer + pointerStep(key), depth + 1);
      const said = saidIn(key, one, quantity);
      if (said === undefined) continue;
      const [name, at] = [path + key, pointer + pointerStep(key)];
      if (find(value, rules.mapping.fields.orderState).name === name) continue;
      const field = said.step === '' ? name : `${name}.${said.step}`;
      if (said.code === 'called-off' && [key, name, field].some((each) => ruleFor(each, named) !== undefined)) continue;
      const pointed = said.step === '' ? at : at + pointerStep(said.step);
      problems.push(problemOf(said.code, { line: place.line, pointer: pointed }, field, shown(said.value)));
    }
  }

  look(value, '', place.pointer ?? '', 0);
}

/** Levels of objects around a value. */
const DEEPEST = 3;

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

/** Objects that group what belongs to a record: `header`, `audit`, `lifecycle`. */
const GROUPS =
  /^(?:(?:order|document)?head(?:er)?|(?:order|document)info|kopf(?:daten)?|meta(?:data)?|audit|lifecycle|flags?|node|order|purchaseorder|bestellung|auftrag|beleg|document|dokument)$/;

/** Whether what is in an object is about the record: it is a group, or the number, the items or the quantity are in it. */
function isAboutRecord(name: string, key: string, mapping: Mapping): boolean {
  const known = about.get(mapping) ?? new Map<string, boolean>();
  about.set(mapping, known);
  const before = known.get(name);
  if (before !== undefined) return before;
  const { purchaseOrderNumber, items, quantity } = mapping.fields;
  const [group, start] = [plainName(key).replace(/[-_.]/g, ''), `${plainName(name)}.`];
  const is =
    GROUPS.test(group) || [purchaseOrderNumber, items, quantity].flat().some((one) => plainName(one).startsWith(start));
  if (known.size < MOST_KNOWN && name.length < 100) known.set(name, is);
  return is;
}

const about = new WeakMap<Mapping, Map<string, boolean>>();
const MOST_KNOWN = 1_000;

/** What an object that stands for one value has it under: `{ code: CANCELLED, name: cancelled }`. */
const VALUE = /^(?:code|name|value|wert|text|label|title|type|status|state|key|date|at|on|datum|reason|grund|by)$/;

/** What a value under a name says, or what is in it: the only one of a list, or one of an object that stands for one value. `step`: where. */
function saidIn(key: string, value: unknown, quantity: string) {
  if (typeof value !== 'object') {
    const code = saidBeside(key, value, quantity);
    return code && { code, step: '', value };
  }
  if (!canSay(key)) return undefined;
  for (const [step, one] of valuesOf(value)) {
    const code = saidBeside(key, one, quantity);
    if (code !== undefined) return { code, step, value: one };
  }
  return undefined;
}

/** The values that a value stands for, each with where it is in an object or a list */
export function valuesOf(value: unknown): readonly [step: string, value: unknown][] {
  if (Array.isArray(value)) return value.length === 1 ? [['0', value[0]]] : [];
  if (!isObject(value)) return [['', value]];
  if (TEXT_KEY in value) return [['', value[TEXT_KEY]]];
  return Object.entries(value).filter(([key]) => VALUE.test(plainName(key)));
}
