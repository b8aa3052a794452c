import { expect, it } from 'vitest';
import { idempotencyKeyOf } from '../../src/ledger/idempotency-key.ts';
import { entryOf, orderOf } from '../support/entry.ts';

it('a key is that of the content: the same for every attempt, on every daemon, in every file', () => {
  const other = { batch: 'other', batchNo: 7, ordinal: 3, version: 9, attempt: 4, job: 'c-9' };
  const key = idempotencyKeyOf(entryOf(), 'staging');
  expect(idempotencyKeyOf(entryOf(other), 'staging')).toBe(key);
  expect(key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
});

it('a key differs for another environment, number or content, and when a person sends the order anew', () => {
  const keys = [
    idempotencyKeyOf(entryOf(), 'staging'),
    idempotencyKeyOf(entryOf(), 'production'),
    idempotencyKeyOf(entryOf({ order: orderOf('4712') }), 'staging'),
    idempotencyKeyOf(entryOf({ order: orderOf('4711', 2) }), 'staging'),
    idempotencyKeyOf(entryOf({ renewedAt: 1000 }), 'staging'),
    idempotencyKeyOf(entryOf({ renewedAt: 1001 }), 'staging'),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});
