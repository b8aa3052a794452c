import { expect, test } from 'vitest';
import { openLateOrders } from '../../src/mapping/late-orders.ts';

test.each([1_000, 60_000])('of %i texts none is lost, and those of a key come together', (keys) => {
  using late = openLateOrders();
  for (const turn of ['a', 'b'])
    for (let key = 0; key < keys; key++) late.add(`PO-${key}`, `${turn}${key}`);
  const seen = new Map<string, string[]>();
  let last = '';
  const apart: string[] = [];
  for (const { key, text } of late.ordered()) {
    if (key !== last && seen.has(key)) apart.push(key);
    seen.set(key, [...(seen.get(key) ?? []), text]);
    last = key;
  }
  expect([apart, seen.size]).toEqual([[], keys]);
  const wrong = [...seen].filter(
    ([key, texts]) => texts.join() !== `a${key},b${key}`.replaceAll('PO-', ''),
  );
  expect(wrong).toEqual([]);
  if (keys === 1_000) expect([...seen.keys()].slice(0, 2)).toEqual(['PO-0', 'PO-1']);
});
