import { sourceOfNumber } from '../order/quantity.ts';
import type { Place, Problem } from '../order/record.ts';
import { plainName, pointerStep } from '../order/text.ts';
import { find, isObject, shown, TEXT_KEY, textOf } from '../parse/find-key.ts';
import { calledOffRules, ruleFor } from '../parse/skip-where.ts';
import { isAboutRecord, type ObjectRules, problemAt } from './object-fields.ts';
import { problemOf } from './problem.ts';
import { kindOf, type Said, saidBeside } from './said-beside.ts';

/** Reports what a record or an item says against itself beside its fields, also a level deeper: a status, a mark, a unit. `quantity`: of an item. */
export function reportSaid(
  value: object,
  quantity: string | undefined,
  place: Place,
  rules: ObjectRules,
  problems: Problem[],
): void {
  const named = calledOffRules(rules.mapping);
  const allows = rules.mapping.otherReadings === 'allow';
  const isOrder = quantity === undefined;

  function look(inner: object, path: string, pointer: string, depth: number): void {
    reportCalledOff(inner, { ...place, pointer }, rules, problems);
    if (allows) return;
    for (const key in inner) {
      const one: unknown = Reflect.get(inner, key);
      const group = depth < DEEPEST && typeof one === 'object' ? groupIn(one) : undefined;
      if (group && isAboutRecord(path + key, { key, isOrder }, rules.mapping)) {
        const within = one === group ? [key] : [key, '0'];
        look(group, `${path}${within.join('.')}.`, pointer + pointerOf(within), depth + 1);
      }
      const said = saidIn(key, one, quantity ?? '');
      if (said === undefined || (depth > 0 && isOfPage(key, inner))) continue;
      const name = path + key;
      if (find(value, rules.mapping.fields.orderState).name === name) continue;
      const field = [name, ...said.steps].join('.');
      if (
        said.code === 'called-off' &&
        [key, name, field].some((each) => ruleFor(each, named) !== undefined)
      )
        continue;
      const pointed = pointer + pointerOf([key, ...said.steps]);
      problems.push(
        problemOf(said.code, { line: place.line, pointer: pointed }, field, shown(said.value)),
      );
    }
  }

  look(value, '', place.pointer ?? '', 0);
}

/** Levels of objects around a value. */
const DEEPEST = 3;

const pointerOf = (steps: readonly string[]) => steps.map(pointerStep).join('');

/** Whether this says that a list is complete, as the answers of Salesforce have it: `{ totalSize: 2, done: true, records: [ … ] }`. */
const isOfPage = (key: string, value: object): boolean =>
  /^done$/i.test(key) && Object.keys(value).some((name) => /^totalsize$/i.test(name));

/** An object, or the only one of a list, as some programs write each element of XML. */
function groupIn(value: unknown): object | undefined {
  const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return isObject(only) ? only : undefined;
}

/** Reports the keys of `calledOff` whose value says that the record or item is not wanted. */
function reportCalledOff(
  value: object,
  place: Place,
  { mapping }: ObjectRules,
  problems: Problem[],
): void {
  for (const { name, holds } of calledOffRules(mapping)) {
    const found = find(value, [name]);
    const { value: said } = found;
    const text =
      typeof said === 'boolean' ? String(said) : (textOf(said) ?? sourceOfNumber(said) ?? '');
    if (found.isAmbiguous) problems.push(problemAt('ambiguous-key', found, place, found.keys));
    else if (text !== '' && holds(text))
      problems.push(problemAt('called-off', found, place, shown(found.value)));
  }
}

/** What an object that stands for one value has it under: `{ code: CANCELLED, name: cancelled }`. */
const VALUE =
  /^(?:code|name|value|wert|text|label|title|type|status|state|key|date|at|on|datum|reason|grund|by)$/;
/** Also, where only certain words say anything. */
const IN_WORDS =
  /^(?:id|refname|current|actual|slug|symbol|(?:short|display)(?:name|value|text|label)?|abbr(?:eviation)?|iso(?:code)?|description|bezeichnung|beschreibung|kurz(?:text|zeichen|bezeichnung))$/;
const FACTOR = /^(?:factor|faktor|multiplier)$/;
/** Of a person. */
const WHO = /^(?:id|email|user|username|login)$/;
const RELEASED = /^(?:is)?(?:approved|released|genehmigt|freigegeben)$/;

/** What a value says, and the steps to it within the one that was looked at. */
type SaidThere = { code: Said; steps: string[]; value: unknown };

/** What a value under a name says, or what is in it: the only one of a list, or one of an object that stands for one value. */
function saidIn(key: string, value: unknown, quantity: string, depth = 0): SaidThere | undefined {
  if (typeof value !== 'object' || value === null) {
    const code = saidBeside(key, value, quantity);
    return code && { code, steps: [], value };
  }
  if (kindOf(key) === undefined || depth > DEEPEST) return undefined;
  for (const [step, one] of valuesOf(value, key)) {
    const name = isMarkIn(key, step) ? step : key;
    const said = saidIn(name, one, quantity, depth + 1);
    if (said !== undefined)
      return { ...said, steps: step === '' ? said.steps : [step, ...said.steps] };
  }
  return undefined;
}

/** Whether a key in an object says it in its own name: `status: { cancelled: true }`, `approval: { approved: false }`. */
function isMarkIn(key: string, step: string): boolean {
  const kind = kindOf(key) ?? '';
  if (kind === 'release') return RELEASED.test(plainName(step));
  return ['status', 'flag', 'word'].includes(kind) && /^(?:flag|mark)$/.test(kindOf(step) ?? '');
}

/** The values that a value under a name stands for, each with where it is in an object or a list. */
export function valuesOf(value: unknown, name: string): readonly [step: string, value: unknown][] {
  const kind = kindOf(name) ?? '';
  // One remark does not replace another.
  if (Array.isArray(value))
    return value.length === 1 || kind === 'remark' ? Object.entries(value) : [];
  if (!isObject(value)) return [['', value]];
  const isWords = /^(?:s|otherS)tatus$|^(?:type|action|unit)$/.test(kind);
  if (TEXT_KEY in value && !isWords) return [['', value[TEXT_KEY]]];
  const own = Object.entries(value).filter(([key]) => {
    const step = plainName(key).replace(/[-_]/g, '');
    if (VALUE.test(step) || (isWords && IN_WORDS.test(step)) || isMarkIn(name, key)) return true;
    return (
      (kind === 'unit' && FACTOR.test(step)) ||
      (kind === 'flag' && /by$/i.test(name) && WHO.test(step))
    );
  });
  const all: [string, unknown][] = TEXT_KEY in value ? [['', value[TEXT_KEY]], ...own] : own;
  return kind === 'unit' ? all.filter((one) => !isKeyOfUnit(one, all)) : all;
}

/** Whether this is only the key of a unit whose name is beside it: `{ code: 12, name: piece }`. */
function isKeyOfUnit([step, value]: [string, unknown], all: readonly [string, unknown][]): boolean {
  const name = plainName(step);
  if (/^(?:value|wert)$/.test(name) || FACTOR.test(name)) return false;
  if (name === 'id' && /^\d+$/.test(textOf(value) ?? '')) return true;
  return (
    /^\d+$/.test(textOf(value) ?? '') && all.some(([, one]) => /\p{L}/u.test(textOf(one) ?? ''))
  );
}
