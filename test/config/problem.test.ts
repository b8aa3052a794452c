import { expect, it } from 'vitest';
import { nearest } from '../../src/config/problem.ts';

const KEYS = ['concurrency', 'timeout', 'attempts', 'backoff', 'settle', 'probe', 'baseUrl', 'of'];

it.each([
  ['concurency', 'concurrency'],
  ['timeuot', 'timeout'],
  ['baseURL', 'baseUrl'],
  ['base_url', 'baseUrl'],
  ['attempt', 'attempts'],
  ['fo', 'of'],
])('takes %s for %s', (typed, meant) => {
  expect(nearest(typed, KEYS)).toBe(meant);
});

it.each(['retries', 'x', '', 'zzzzzzzz', 'a'.repeat(10_000)])(
  'takes %.20s for nothing',
  (typed) => {
    expect(nearest(typed, KEYS)).toBeUndefined();
  },
);

it('prefers the nearest of several near ones', () => {
  expect(nearest('stagin', ['staging2', 'staging', 'stagim'])).toBe('staging');
});
