import { expect, test } from 'vitest';
import { readOptions } from '../../bench/options.ts';

const read = (...args: string[]) => readOptions(args, ['idle', 'sizes']);

test('rows are named, and a wrong name is reported with the right ones', () => {
  expect(read('--only', 'idle', '--quick')).toMatchObject({ only: ['idle'], quick: true });
  expect(() => read('--only', 'idel')).toThrow('row idel not found; the rows are idle, sizes');
});
