import { expect, it } from 'vitest';
import { readSince } from '../../src/operate/since.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');

it.each([
  ['24h', '2026-11-20T12:00:00.000Z'],
  ['7d', '2026-11-14T12:00:00.000Z'],
  ['2026-11-01', '2026-11-01T00:00:00.000Z'],
  ['2026-11-01T07:15Z', '2026-11-01T07:15:00.000Z'],
  ['2026-11-01T07:15:30+01:00', '2026-11-01T06:15:30.000Z'],
])('%s is %s', (text, iso) => {
  expect(new Date(readSince(text)?.(NOW) ?? 0).toISOString()).toBe(iso);
});

it.each(['', 'yesterday', '24', '2026-13-01', '1.5h'])('refuses %j', (text) => {
  expect(readSince(text)).toBeUndefined();
});
