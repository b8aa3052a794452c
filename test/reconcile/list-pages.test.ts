import { describe, expect, it } from 'vitest';
import type { ListQuery, ReadList } from '../../src/api/list.ts';
import { askPaging, readPages } from '../../src/reconcile/list-pages.ts';
import { addShown } from '../../src/reconcile/shown-numbers.ts';

type Api = (query: ListQuery, call: number) => readonly string[] | { status: number };

/** An API whose list a test decides, and how often it was asked. */
function listOf(api: Api): { read: ReadList; calls: () => number; queries: ListQuery[] } {
  const queries: ListQuery[] = [];
  const read: ReadList = async (onOrder, query = {}) => {
    queries.push(query);
    const shown = api(query, queries.length);
    if ('status' in shown)
      return { kind: 'failed', said: { httpStatus: shown.status, code: 'odd', message: 'odd' } };
    for (const purchaseOrderNumber of shown) onOrder({ purchaseOrderNumber });
    return { kind: 'complete', orders: shown.length };
  };
  return { read, calls: () => queries.length, queries };
}

const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => `PO-${from + i}`);

const page = (
  all: readonly string[],
  { limit = 1e9, offset = 0 }: ListQuery,
  size = 15,
): string[] => all.slice(offset, offset + Math.min(limit, size));

function shownOf(all: readonly string[]): Set<number> {
  const shown = new Set<number>();
  for (const number of all) addShown(shown, number);
  return shown;
}

async function all(api: Api) {
  const { read, calls, queries } = listOf(api);
  const shown: string[] = [];
  const end = await readPages(read, ({ purchaseOrderNumber }) => shown.push(purchaseOrderNumber));
  const passes = queries.filter(({ offset }) => offset === 0).length;
  const code = end.kind === 'complete' ? 'complete' : end.said.code;
  return { shown, end: code, calls: calls(), passes };
}

describe('askPaging', () => {
  const FORTY = numbers(1, 40);

  const ANSWERS: [string, Api, readonly string[], string, number][] = [
    ['ignores both parameters', () => FORTY, FORTY, 'no', 2],
    ['pages always', (query) => page(FORTY, query), numbers(1, 15), 'yes', 2],
    ['pages on request', (query) => page(FORTY, query, 99), FORTY, 'yes', 2],
    [
      'honors limit only',
      ({ limit = 15 }) => FORTY.slice(0, Math.min(limit, 15)),
      numbers(1, 15),
      'yes',
      2,
    ],
    [
      'honors offset only',
      ({ offset = 0 }) => FORTY.slice(offset, offset + 15),
      numbers(1, 15),
      'yes',
      3,
    ],
    ['refuses them', ({ limit }) => (limit ? { status: 400 } : FORTY), FORTY, 'unknown', 1],
    ['grows meanwhile', (_, call) => numbers(1, 40 + call), FORTY, 'no', 2],
    ['archives meanwhile', (_, call) => numbers(1 + call, 40), FORTY, 'unknown', 2],
  ];

  it.each(ANSWERS)('of an API that %s', async (_, api, first, paging, calls) => {
    const list = listOf(api);
    expect(await askPaging(list.read, shownOf(first))).toBe(paging);
    expect(list.calls()).toBe(calls);
  });

  it('does not ask about a list with fewer than two orders', async () => {
    const list = listOf(() => ['PO-1']);
    expect(await askPaging(list.read, shownOf(['PO-1']))).toBe('unknown');
    expect(list.calls()).toBe(0);
  });

  it('has no answer from an API that fails', async () => {
    const list = listOf(() => ({ status: 500 }));
    expect(await askPaging(list.read, shownOf(FORTY))).toMatchObject({ kind: 'failed' });
  });
});

describe('readPages', () => {
  it.each([1, 7, 15, 1_000])('shows each order once, from pages of %i', async (size) => {
    const found = await all((query) => page(numbers(1, 40), query, size));
    expect(found.shown).toEqual(numbers(1, 40));
    expect(found.end).toBe('complete');
  });

  it('continues by the rows received, and ends with two empty pages', async () => {
    const { calls } = await all((query) => page(numbers(1, 40), query));
    // Three pages with orders and an empty one, in each of two passes.
    expect(calls).toBe(8);
  });

  it('asks without a limit where the API refuses ours', async () => {
    const list = listOf(({ limit, offset = 0 }) =>
      limit === undefined ? numbers(1, 40).slice(offset, offset + 15) : { status: 422 },
    );
    const shown: string[] = [];
    await readPages(list.read, ({ purchaseOrderNumber }) => shown.push(purchaseOrderNumber));
    expect(shown).toEqual(numbers(1, 40));
    expect(list.queries.filter(({ limit }) => limit !== undefined)).toHaveLength(2);
  });

  it.each([
    ['at its end', (call: number) => numbers(1, 40 + Math.min(call, 4))],
    [
      'at its beginning',
      (call: number) => [...numbers(41, 40 + Math.min(call, 4)).reverse(), ...numbers(1, 40)],
    ],
  ])('agrees on what there was before, of a list that grows %s', async (_, rows) => {
    const found = await all((query, call) => page(rows(call), query));
    expect(found.end).toBe('complete');
    expect(found.shown).toEqual(expect.arrayContaining(numbers(1, 40)));
  });

  it('reads again where a pass missed an order', async () => {
    // An order that is removed while a pass reads moves another one over the border of a page.
    const found = await all((query, call) =>
      page(call < 2 ? numbers(1, 40) : numbers(2, 40), query),
    );
    expect(found.end).toBe('complete');
    expect(found.shown).toEqual(expect.arrayContaining(numbers(2, 40)));
  });

  it.each<[string, Api, string]>([
    ['repeats its pages', ({ limit = 15 }) => numbers(1, Math.min(limit, 15)), 'list-unstable'],
    [
      'changes in every pass',
      (query, call) =>
        page(
          numbers(1, 40).filter((_, i) => i % 5 !== call % 5),
          query,
        ),
      'list-unstable',
    ],
    ['grows with each page', (query, call) => page(numbers(1, 40 + call), query), 'list-unstable'],
    [
      'fails in the middle',
      (query) => (query.offset ? { status: 500 } : page(numbers(1, 40), query)),
      'odd',
    ],
  ])('is not complete where the list %s, after at most five passes', async (_, api, code) => {
    const { end, calls, passes } = await all(api);
    expect(end).toBe(code);
    expect(calls).toBeLessThan(60);
    expect(passes).toBeLessThanOrEqual(5);
  });

  it('fails, instead of filling the memory, where the list has more than four million orders', () => {
    const shown = new Set(Array.from({ length: 4_000_000 }, (_, i) => i));
    expect(() => addShown(shown, 'PO-1')).toThrow('more than fits in memory');
  });

  it('passes an order on twice where one page shows it twice', async () => {
    const rows = [...numbers(1, 5), 'PO-3'];
    expect((await all((query) => page(rows, query))).shown).toEqual(rows);
  });
});
