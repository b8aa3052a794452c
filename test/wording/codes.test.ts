import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const page = readFileSync(new URL('../../docs/reference/codes.md', import.meta.url), 'utf8');

/** The rows of each table, by its heading. */
const tables = page
  .split('\n## ')
  .slice(1)
  .map((text): [string, string[][]] => [
    text.split('\n')[0] ?? '',
    [...text.matchAll(/^\| `([^`]+)` \| (.*?) \|(?: (.*?) \|)?$/gm)].map(
      ([, code = '', message = '', remedy = '']) => [code, message, remedy],
    ),
  ]);

it.each(tables)('%s: each code has one row, with one sentence', (_, rows) => {
  expect(rows.length).toBeGreaterThan(5);
  const codes = rows.map(([code]) => code);
  expect(codes.filter((code, i) => codes.indexOf(code) !== i)).toEqual([]);
  expect(rows.filter(([, message]) => message === '')).toEqual([]);
});

it('each pause has a remedy', () => {
  const pauses = tables.find(([name]) => name === 'Why delivery is paused')?.[1] ?? [];
  expect(pauses.filter(([, , remedy]) => remedy === '')).toEqual([]);
});
