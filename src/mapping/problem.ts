import type { Problem, ProblemCode, ProblemFacts, ValueFacts } from '../order/problem.ts';
import { shorten } from '../order/text.ts';
import { characterIn } from './domain.ts';

/** A problem at the place of a line, or of a value in it. */
export function problemAt<Code extends ProblemCode>(
  { line, pointer }: { line: number; pointer?: string },
  code: Code,
  facts: ProblemFacts[Code],
  { column = '', value = '' }: { column?: string | undefined; value?: string } = {},
): Problem {
  const place = { line, ...(pointer !== undefined && { pointer }) };
  const problem = { code, facts, ...place, field: column, value: shorten(value) };
  // The type of the facts follows from that of the code, which TypeScript does not see through a union.
  return problem as Problem;
}

/** The facts of a value with this fault. */
export function valueFacts(of: ValueFacts['of'], fault: string, text: string): ValueFacts {
  const character = fault === 'character' || fault === 'space' ? characterIn(text) : undefined;
  return { of, ...(character !== undefined && { character }) };
}
