import { readFileSync } from 'node:fs';
import path from 'node:path';

export type Mutant = {
  /** The safeguard that is switched off, as in "without …". */
  without: string;
  file: string;
  /** Occurs exactly once in the file. */
  find: string;
  replace: string;
  /** The test files of which one must turn red. */
  tests: readonly string[];
};

/**
 * The mutants of `mutants.txt`. A line "== test …" names the tests of what follows. A mutant is a line
 * "file: safeguard", its code after "- ", and after "+ " what replaces it. Line breaks of code count for nothing.
 */
function readMutants(text: string): Mutant[] {
  const mutants: Mutant[] = [];
  let tests: string[] = [];
  for (const line of text.split('\n')) {
    const last = mutants.at(-1);
    if (line.startsWith('== ')) tests = line.slice(3).split(' ');
    else if (line.startsWith('- ') && last !== undefined) last.find = line.slice(2);
    else if (line.startsWith('+ ') && last !== undefined) last.replace = line.slice(2);
    else if (line !== '') {
      const [file = '', ...without] = line.split(': ');
      mutants.push({ without: without.join(': '), file, find: '', replace: '', tests });
    }
  }
  return mutants;
}

export const MUTANTS: readonly Mutant[] = readMutants(
  readFileSync(path.join(import.meta.dirname, 'mutants.txt'), 'utf8'),
);
