import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { expect, it } from 'vitest';
import { findCode, replaceCode } from './mutants/find-code.ts';
import { MUTANTS } from './mutants/mutants.ts';

it('each mutant still finds its line, exactly once, and its tests exist', () => {
  const problems = MUTANTS.flatMap(({ without, file, find, tests }) => {
    const times = existsSync(file) ? findCode(readFileSync(file, 'utf8'), find).length : 0;
    const missing = tests.filter((test) => !existsSync(test));
    return [...(times === 1 ? [] : [`without ${without}: ${times} times in ${file}`]), ...missing];
  });
  expect(problems).toEqual([]);
});

it('each mutant of a TypeScript file is code that loads', () => {
  const problems = MUTANTS.filter(({ file }) => file.endsWith('.ts')).flatMap(
    ({ without, file, find, replace }) => {
      const text = replaceCode(readFileSync(file, 'utf8'), find, replace);
      try {
        stripTypeScriptTypes(text);
        return [];
      } catch (error) {
        return [`without ${without}: ${String(error)}`];
      }
    },
  );
  expect(problems).toEqual([]);
});
