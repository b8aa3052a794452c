import { shorten } from '../order/text.ts';
import type { Problem, ProblemCode, ProblemFacts } from './codes.ts';

/** A problem at the place of a line, or of a value in it. */
export function problemAt<Code extends ProblemCode>(
  { line, pointer }: { line: number; pointer?: string },
  code: Code,
  facts: ProblemFacts[Code],
  { column, value }: { column?: string | undefined; value?: string } = {},
): Problem {
  const problem = {
    code,
    facts,
    line,
    ...(pointer !== undefined && { pointer }),
    ...(column !== undefined && { column }),
    ...(value !== undefined && { value: shorten(value) }),
  };
  // The type of the facts follows from that of the code, which TypeScript does not see through a union.
  return problem as Problem;
}
