import { afterEach, expect, test } from 'vitest';
import { chance } from '../../src/sandbox/faults/plan-faults.ts';
import { listModeOf, shownIn } from '../../src/sandbox/list-mode.ts';
import { LIST_KINDS } from '../support/list-kinds.ts';
import {
  bearerHeaders,
  createOrders,
  type OpenSandbox,
  openSandbox,
  ordersIn,
} from '../support/open-sandbox.ts';
import { until } from '../support/until.ts';

let opened: OpenSandbox | undefined;
afterEach(() => opened?.[Symbol.asyncDispose]());

/** A sandbox with the orders 1 to `count`, and what its list answers to a query. */
async function open(list: string | undefined, count = 5) {
  opened = await openSandbox({ list, record: true });
  const api = opened;
  const token = await api.token();
  for (let nth = 1; nth <= count; nth += 1) await createOrders(api, [`${nth}`], token);
  const ask = (query = '') =>
    api.call('GET', `/purchase-orders${query}`, { headers: bearerHeaders(token) });
  const shown = async (query = '') =>
    ordersIn((await ask(query)).json.data)
      .map((order) => Object(order).purchaseOrderNumber)
      .join(' ');
  return { api, token, ask, shown };
}

test.each([
  [undefined, '?limit=2&offset=1', '1 2 3 4 5'],
  ['all', '?limit=x&offset=-1', '1 2 3 4 5'],
  ['newest:2', '', '4 5'],
  ['newest:2', '?limit=1&offset=1', '4 5'],
  ['newest:9', '', '1 2 3 4 5'],
  ['newest:0', '', ''],
  ['oldest:2', '', '1 2'],
  ['oldest:2', '?limit=1&offset=1', '1 2'],
  ['paged:2', '', '1 2'],
  ['paged:2', '?limit=1', '1'],
  ['paged:2', '?limit=4', '1 2'],
  ['paged:2', '?offset=2', '3 4'],
  ['paged:2', '?limit=4&offset=4', '5'],
  ['paged:2', '?offset=5', ''],
  ['paged', '', '1 2 3 4 5'],
  ['paged', '?limit=2&offset=1', '2 3'],
  ['limited', '', '1 2 3 4 5'],
  ['limited', '?limit=2&offset=1', '1 2'],
  ['limited:3', '?offset=1', '1 2 3'],
  ['archive:1h', '', '1 2 3 4 5'],
  ['archive:0s', '', ''],
  ['lag:1h', '', ''],
  ['part:0%', '', ''],
  ['part:100%', '', '1 2 3 4 5'],
  ['newest:3+paged:2', '?offset=1', '4 5'],
] as const)('--list %s shows for "%s" the orders "%s"', async (mode, query, numbers) => {
  const { shown } = await open(mode);
  // Nothing is as old as it is itself.
  if (mode === 'archive:0s') await until('a millisecond', async () => (await shown()) === '');
  expect(await shown(query)).toBe(numbers);
});

test.each([
  ['paged:2', '?limit=0'],
  ['paged:2', '?limit=many'],
  ['paged:2', '?offset=-1'],
  ['limited', '?limit=0'],
  ['strict', '?limit=1'],
  ['strict', '?other='],
])('--list %s refuses the query %s with 400, and answers without a query', async (mode, query) => {
  const { ask } = await open(mode, 1);
  expect(await ask(query)).toMatchObject({ status: 400, json: { error: { code: 400 } } });
  expect((await ask()).status).toBe(200);
});

test.each([
  ['lag:1s', [1, 2]],
  ['archive:1s', [2, 3]],
  ['archive:1500ms+lag:500ms', [2]],
  ['archive:1s+oldest:1', [2]],
  ['lag:1s+newest:1', [2]],
] as const)('%s shows of orders of 2, 1 and 0 s the ones with the ids %j', (text, ids) => {
  const stored = [1, 2, 3].map((id) => ({ id, storedAt: (id - 1) * 1000 }));
  const read = { query: new URLSearchParams(), nth: 1, now: 2000, draw: () => 0.5 };
  expect(shownIn(listModeOf(text) ?? {}, stored, read)).toEqual(ids);
});

test('in a lag with a range each order has its own time, the same in every read', () => {
  const stored = Array.from({ length: 100 }, (_, id) => ({ id, storedAt: 0 }));
  const draw = (key: string) => chance(1, key);
  const at = (now: number) => {
    const read = { query: new URLSearchParams(), nth: now, now, draw };
    const shown = shownIn({ lag: { least: 0, most: 1000 } }, stored, read);
    return typeof shown === 'string' ? [] : shown;
  };
  expect([at(0).length, at(1000).length]).toEqual([0, 100]);
  expect(at(500).length).toBeGreaterThan(20);
  expect(at(500).length).toBeLessThan(80);
  expect(at(750)).toEqual(expect.arrayContaining(at(500)));
});

test('a list that grows has one more order of another client in every read', async () => {
  const { shown } = await open('paged:3+grows', 3);
  expect([await shown(), await shown('?offset=3')]).toEqual([
    '1 2 3',
    expect.stringMatching(/^GROWN-\S+ GROWN-\S+$/),
  ]);
});

test('a fault changes the mode of a running list for the calls it selects, and its end restores it', async () => {
  const { api, shown } = await open('newest:4');
  await api.setFaults([
    { kind: 'list', show: 'oldest:1', calls: 2 },
    { kind: 'list', show: 'paged:2', calls: '1-3' },
  ]);
  expect([await shown(), await shown(), await shown('?offset=4'), await shown()]).toEqual([
    '1 2',
    '1',
    '5',
    '2 3 4 5',
  ]);
  await api.setFaults([{ kind: 'list', show: 'all' }]);
  expect(await shown()).toBe('1 2 3 4 5');
  await api.setFaults([]);
  expect(await shown()).toBe('2 3 4 5');
});

test('every kind of list can be switched on while the sandbox runs', async () => {
  const { api, ask } = await open('all', 40);
  const seen: Record<string, unknown> = {};
  for (const [kind, faults] of Object.entries(LIST_KINDS)) {
    await api.setFaults(faults);
    const { status, json } = await ask();
    const orders: unknown = Object(json.data).purchaseOrders;
    seen[kind] = status === 200 ? Array.isArray(orders) && orders.length : status;
  }
  expect(seen).toEqual({
    complete: 40,
    'the newest only': 15,
    'the oldest only': 15,
    'cut from the 201st on': 40,
    'a random part': expect.any(Number),
    'paged always': 15,
    'paged on request': 40,
    'limit honored, offset ignored': 15,
    'query parameters refused': 40,
    'growing while it is read': 15,
    // One order more by now; how many are shown depends on their age.
    lagging: expect.any(Number),
    'an archive': expect.any(Number),
    empty: 0,
    malformed: false,
    'not offered, 403': 403,
    'not offered, 404': 404,
    'not offered, 405': 405,
    'not offered, 501': 501,
  });
});

test.each([
  '',
  'al',
  'newest',
  'newest:',
  'newest:-1',
  'newest:1.5',
  'paged:0',
  'paged:x',
  'all:1',
  'strict:1',
  'lag',
  'lag:soon',
  'lag:2s..1s',
  'part:2',
  'archive:501h',
  'newest:1+oldest:1',
  'newest:1+',
  'lag:1s:2s',
])('"%s" is no list mode', (text) => {
  expect(listModeOf(text)).toBe(undefined);
});
