import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { STATUS_WORDS } from '../../src/validate/called-off-rules.ts';
import { saidBeside } from '../../src/validate/said-beside.ts';
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
  const thrown = [...textOf('').matchAll(/unreadable\(\s*'([a-z-]+)'/g)].map(
    ([, code]) => `unreadable-${code}`,
  );
  expect(new Set(documented().filter((code) => code.startsWith('unreadable-')))).toEqual(
    new Set(thrown),
  );
});

test('every problem of a row is documented, and no other', () => {
  const told = [...textOf('validate/problem.ts').matchAll(/case '([a-z-]+)':/g)].map(
    ([, code]) => code,
  );
  expect(new Set(documented().filter((code) => !code.startsWith('unreadable-')))).toEqual(
    new Set(told),
  );
});

test('every value of a status column that holds an order is documented with its meaning and language, and no other', () => {
  const meanings = {
    notYet: 'not released yet',
    done: 'done already',
    ended: 'no longer wanted',
  } as const;
  const languages = ['English', 'German', 'French', 'Spanish', 'Italian', 'Dutch'];
  const rows = (['notYet', 'done', 'ended'] as const).flatMap((why) =>
    STATUS_WORDS[why].map((words, at) => `| ${meanings[why]} | ${languages[at]} | ${words} |`),
  );
  const [, table = ''] = /\| meaning \| language \| values \|\n.*\n((?:\|.*\n)+)/.exec(page) ?? [];
  expect(table.trim().split('\n')).toEqual(rows);
});

test('the values that hold an order in a column about a payment or an article are documented', () => {
  const [, list = ''] =
    /only these hold the order:\n(.*?), and words for cancelled/s.exec(page) ?? [];
  const words = list.split(/,\s+/);
  expect(words.length).toBeGreaterThan(25);
  expect(words.filter((word) => saidBeside('Payment status', word) === undefined)).toEqual([]);
});
