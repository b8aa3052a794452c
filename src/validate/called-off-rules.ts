import type { Mapping } from '../config/config.ts';
import { plainName } from '../order/text.ts';
import { isNoCancellation } from './cancellation-names.ts';

/** A column or key of `calledOff`. It replaces what its name says about cancelling. */
export type CalledOffRule = { name: string; plain: string; holds(text: string): boolean };

const known = new WeakMap<Mapping['calledOff'], readonly CalledOffRule[]>();

/** The rules of a mapping: `any` is every value except a no, `never` is none, other values are compared without case. */
export function calledOffRules({ calledOff }: Mapping): readonly CalledOffRule[] {
  const rules = known.get(calledOff) ?? Object.entries(calledOff).map(([name, values]) => ruleOf(name, values));
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
