import { afterAll, beforeAll, expect, it } from 'vitest';
import { createBatches } from '../../src/ledger/batches/batches.ts';
import { type OpenRedis, openTestRedis } from '../support/open-redis.ts';

let store: OpenRedis;
beforeAll(async () => {
  store = await openTestRedis();
});
afterAll(() => store[Symbol.asyncDispose]());

const FORM_NAME = 'orders.line-7.fix.csv';

it.each([
  ['sent with the form', 'form', FORM_NAME, true],
  ['sent with the form, whatever it is called', 'form', 'orders.csv', true],
  ['uploaded, whatever it is called', 'upload', FORM_NAME, undefined],
  ['dropped, whatever it is called', 'drop', FORM_NAME, undefined],
])('a file %s is known as what it is', async (_, how, name, isForm) => {
  const { redis, keys } = store;
  const batches = createBatches({ redis, keys, owner: 'me' });
  const batch = `${how}-${name}`;
  if (how === 'form') await batches.handedIn(batch, 'anna', { form: true });
  if (how === 'upload') await batches.handedIn(batch, 'anna');
  const found = await batches.begin(
    { batch, source: 'inbox', kind: 'inbox', name, path: '/none' },
    1,
  );
  expect(found.isForm).toBe(isForm);
  expect(found.by).toBe(how === 'drop' ? undefined : 'anna');
});
