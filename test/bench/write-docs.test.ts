import { expect, test } from 'vitest';
import { replaceTable } from '../../bench/write-docs.ts';

test('a table is written between its markers, repeatedly', () => {
  const page = 'before\n<!-- bench -->\nold\n<!-- /bench -->\nafter\n';
  const once = replaceTable(page, '| new |');
  expect(once).toBe('before\n<!-- bench -->\n| new |\n<!-- /bench -->\nafter\n');
  expect(replaceTable(once, '| new |')).toBe(once);
});

test('a page without markers is not touched', () => {
  expect(() => replaceTable('no markers', '| new |')).toThrow('<!-- bench -->');
});
