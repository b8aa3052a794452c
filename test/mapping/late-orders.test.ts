import { expect, test } from 'vitest';
import { openLateOrders } from '../../src/mapping/late-orders.ts';

test.each([1_000, 60_000])('of %i texts none is lost, and those of a key come together', (keys) => {
  using late = openLateOrders();
  for (const turn of ['a', 'b'])
    for (let key = 0; key < keys; key++) late.add(`PO-${key}`, `${turn}${key}`);
  const seen = new Map<string, string[]>();
  let last = '';
  for (const { key, text } of late.ordered()) {
    expect(key === last || !seen.has(key)).toBe(true);
    seen.set(key, [...(seen.get(key) ?? []), text]);
    last = key;
  }
  expect(seen.size).toBe(keys);
  for (let key = 0; key < keys; key++)
    expect(seen.get(`PO-${key}`)).toEqual([`a${key}`, `b${key}`]);
  if (keys === 1_000) expect([...seen.keys()].slice(0, 2)).toEqual(['PO-0', 'PO-1']);
});
