import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readSourceFiles } from '../support/source-files.ts';

const root = path.resolve(import.meta.dirname, '../..');
const page = readFileSync(path.join(root, 'docs/files.md'), 'utf8');
const sources = readSourceFiles(path.join(root, 'src')).map(({ path: file }) => file);

function textOf(folder: string): string {
  const files = sources.filter((file) => file.startsWith(folder));
  return files.map((file) => readFileSync(path.join(root, 'src', file), 'utf8')).join('\n');
}

/** The codes in the first column of the page's tables. */
function documented(): string[] {
  const cells = page.split('\n').flatMap((line) => /^\| (`[a-z`, -]+`) \|/.exec(line)?.[1] ?? []);
  return cells.flatMap((cell) => cell.split(', ').map((code) => code.replaceAll('`', '')));
}

test('every way to be unreadable is documented, and no other', () => {
  const thrown = [...textOf('').matchAll(/unreadable\(\s*'([a-z-]+)'/g)].map(([, code]) => `unreadable-${code}`);
  expect(new Set(documented().filter((code) => code.startsWith('unreadable-')))).toEqual(new Set(thrown));
});

test('every problem of a row is documented, and no other', () => {
  const told = [...textOf('validate/problem.ts').matchAll(/case '([a-z-]+)':/g)].map(([, code]) => code);
  expect(new Set(documented().filter((code) => !code.startsWith('unreadable-')))).toEqual(new Set(told));
});
