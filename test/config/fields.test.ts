import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../src/config/fields.ts';

it.each([
  ['250ms', 250],
  ['30s', 30_000],
  ['5m', 300_000],
  ['1h', 3_600_000],
  ['90d', 7_776_000_000],
  ['0s', 0],
  ['007s', 7_000],
])('reads %s', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

it.each([
  '',
  '30',
  's',
  '30 s',
  ' 30s',
  '30s ',
  '1.5h',
  '-1s',
  '+1s',
  '1e3s',
  '30S',
  '1w',
  '1min',
  '0x10s',
  '1h30m',
  '９s',
  '1234567890s',
  '30s\n',
])('does not read %j', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

it('writes whole milliseconds so that they read back the same, in the largest unit', () => {
  fc.assert(fc.property(fc.nat({ max: 900_000_000 }), (ms) => parseDuration(formatDuration(ms)) === ms));
  expect([0, 999, 60_000, 90_000, 86_400_000].map(formatDuration)).toEqual(['0ms', '999ms', '1m', '90s', '1d']);
});
