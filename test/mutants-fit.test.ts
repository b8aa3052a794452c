import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { MUTANTS } from './mutants/mutants.ts';

it('each mutant still finds its line, exactly once, and its tests exist', () => {
  const problems = MUTANTS.flatMap(({ without, file, find, tests }) => {
    const times = existsSync(file) ? readFileSync(file, 'utf8').split(find).length - 1 : 0;
    const missing = tests.filter((test) => !existsSync(test));
    return [...(times === 1 ? [] : [`without ${without}: ${times} times in ${file}`]), ...missing];
  });
  expect(problems).toEqual([]);
});
