import { describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { created, envelope, listed, openOddApi, type StoredOrder } from './odd-api.ts';
import { csv, numbered, openTroublePlace, times } from './trouble-place.ts';

const createsOf = (api: { calls: { endpoint: string; order?: string }[] }, number: string) =>
  api.calls.filter((call) => call.endpoint === 'create' && call.order === number).length;

describe('an order that the API has is never sent again', () => {
  it('a conflict that a file shows again, with the same or with other content', async () => {
    const others: StoredOrder = {
      purchaseOrderNumber: 'PO-1',
      orderState: 'NEW',
      items: [{ articleCode: 'OTHER', quantity: 9 }],
    };
    await using api = await openOddApi(({ endpoint, order, attempt }, { stored }) => {
      if (endpoint !== 'create' || order?.purchaseOrderNumber !== 'PO-1' || attempt > 1) return undefined;
      // Another sender was faster, and our call is lost.
      stored.push(others);
      return { drop: true };
    });
    await using place = await openTroublePlace(api);
    await place.drop('first.csv', csv(['PO-1']));
    expect(await place.settled(['PO-1'])).toEqual({ 'PO-1': 'conflict' });
    await place.drop('again.csv', csv(['PO-1']));
    await until('the second file', () => place.outcomeIn('again.csv', 'PO-1'));
    await place.drop('changed.csv', csv(['PO-1'], 5));
    await until('the third file', () => place.outcomeIn('changed.csv', 'PO-1'));
    await place.drop('equal.csv', 'purchaseOrderNumber,articleCode,quantity\nPO-1,OTHER,9\n');
    expect(await until('the fourth file', () => place.outcomeIn('equal.csv', 'PO-1'))).toBe('duplicate');
    await place.run('dead-letters', 'retry', '--yes');
    await place.drop('last.csv', csv(['PO-2']));
    await place.settled(['PO-2']);
    expect(createsOf(api, 'PO-1')).toBe(1);
    expect(times(api, 'PO-1')).toBe(1);
  });

  it.each([1, 3, 6])('a first start while the list answers 500 for %d seconds', async (seconds) => {
    let begin: number | undefined;
    await using api = await openOddApi(({ endpoint }) => {
      if (endpoint !== 'list') return undefined;
      begin ??= performance.now();
      return performance.now() - begin < seconds * 1_000 ? { status: 500 } : undefined;
    });
    const numbers = numbered(20);
    for (const purchaseOrderNumber of numbers) {
      api.stored.push({ purchaseOrderNumber, orderState: 'NEW', items: [{ articleCode: 'ART-1', quantity: 1 }] });
    }
    await using place = await openTroublePlace(api);
    await place.drop('orders.csv', csv(numbers));
    const outcomes = await place.settled(numbers);
    expect(api.stored).toHaveLength(20);
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['duplicate']));
  });

  it('numbers that the API writes in upper case, in its answer and in its list', async () => {
    await using api = await openOddApi(({ endpoint, order }, { stored }) => {
      if (endpoint === 'create' && order)
        return { status: 201, body: created(order.purchaseOrderNumber.toUpperCase()), store: true };
      const shown = stored.map((one) => ({ ...one, purchaseOrderNumber: one.purchaseOrderNumber.toUpperCase() }));
      return endpoint === 'list' ? { status: 200, body: listed(shown) } : undefined;
    });
    await using place = await openTroublePlace(api);
    const numbers = numbered(4, 'po');
    await place.drop('orders.csv', csv(numbers));
    const outcomes = await place.settled(numbers);
    for (const number of numbers) {
      expect(times(api, number)).toBe(1);
      expect(['accepted', 'inDoubt']).toContain(outcomes[number]);
    }
  });

  it.each([
    ['bare strings', (stored: StoredOrder[]) => stored.map(({ purchaseOrderNumber }) => purchaseOrderNumber)],
    ['numbers as numbers', () => [{ purchaseOrderNumber: 17 }]],
    ['objects with another key', (stored: StoredOrder[]) => stored.map((one) => ({ number: one.purchaseOrderNumber }))],
    ['nested lists', (stored: StoredOrder[]) => [stored]],
  ])('a list of %s is no evidence', async (_, shape) => {
    await using api = await openOddApi(({ endpoint, attempt, nth }, { stored }) => {
      if (endpoint === 'create' && attempt === 1) return { drop: true, store: true };
      return endpoint === 'list' && nth > 1 ? { status: 200, body: listed(shape(stored)) } : undefined;
    });
    await using place = await openTroublePlace(api);
    await place.drop('orders.csv', csv(['PO-1']));
    expect(await place.settled(['PO-1'])).toEqual({ 'PO-1': 'inDoubt' });
    expect(times(api, 'PO-1')).toBe(1);
  });

  it.each([
    ['an object', { paging: { page: 1, next: null } }],
    ['an empty array', { warnings: [] }],
    ['an array of strings', { links: ['self', 'next'] }],
  ])('%s beside the list does no harm', async (_, beside) => {
    await using api = await openOddApi(({ endpoint, attempt }, { stored }) => {
      if (endpoint === 'create' && attempt === 1) return { drop: true, store: true };
      return endpoint === 'list'
        ? { status: 200, body: { status: 'success', error: null, data: { ...beside, purchaseOrders: stored } } }
        : undefined;
    });
    await using place = await openTroublePlace(api);
    await place.drop('orders.csv', csv(['PO-1']));
    expect(await place.settled(['PO-1'])).toEqual({ 'PO-1': 'accepted' });
    expect(times(api, 'PO-1')).toBe(1);
  });
});

describe('doubt ends', () => {
  it('a list that answers 401 after a revocation is read again with a new token', async () => {
    await using api = await openOddApi(({ endpoint, attempt, token }, { revoked }) => {
      if (endpoint !== 'create' || attempt > 1) return undefined;
      revoked.add(token);
      return { drop: true, store: true };
    });
    await using place = await openTroublePlace(api);
    await place.drop('orders.csv', csv(['PO-1']));
    expect(await place.settled(['PO-1'], 15_000)).toEqual({ 'PO-1': 'accepted' });
    expect(times(api, 'PO-1')).toBe(1);
  });

  it('a list that always fails leaves the order to a person after ten settle times, who can resolve it', async () => {
    await using api = await openOddApi(({ endpoint, nth }) => {
      if (endpoint === 'create') return { drop: true };
      return endpoint === 'list' && nth > 1 ? { status: 500 } : undefined;
    });
    await using place = await openTroublePlace(api);
    await place.drop('orders.csv', csv(['PO-1']));
    expect(await place.settled(['PO-1'], 40_000)).toEqual({ 'PO-1': 'inDoubt' });
    expect((await place.run('dead-letters', 'resolve', 'PO-1', '--as', 'accepted', '--yes')).code).toBe(0);
  });

  it('an order that waits for the list can be resolved by a person at once', async () => {
    await using api = await openOddApi(({ endpoint, nth }) => {
      if (endpoint === 'create') return { drop: true };
      return endpoint === 'list' && nth > 1 ? { status: 500 } : undefined;
    });
    const pace = 'settle: 30s, timeout: 2s, backoff: { initial: 100ms, max: 1s }, probe: { initial: 250ms, max: 2s }';
    await using place = await openTroublePlace(api, { pace });
    await place.drop('orders.csv', csv(['PO-1']));
    await until('the lost call', () => createsOf(api, 'PO-1') === 1);
    await until(
      'the doubt',
      async () => (await place.run('dead-letters', 'resolve', 'PO-1', '--as', 'accepted', '--yes')).code === 0,
    );
    expect(await place.settled(['PO-1'])).toEqual({ 'PO-1': 'accepted' });
  });

  it('a list that hangs once does not stop the next one', async () => {
    await using api = await openOddApi(({ endpoint, nth, attempt }) => {
      if (endpoint === 'create' && attempt === 1) return { drop: true, store: true };
      return endpoint === 'list' && nth === 2 ? { hang: true } : undefined;
    });
    await using place = await openTroublePlace(api);
    await place.drop('orders.csv', csv(['PO-1']));
    const outcomes = await place.settled(['PO-1'], 90_000);
    expect(['accepted', 'inDoubt']).toContain(outcomes['PO-1']);
    expect(times(api, 'PO-1')).toBe(1);
  });
});

describe('one order never stops the others', () => {
  it.each([
    ['403', { status: 403, body: '<html>Request blocked: rule 942100</html>' }],
    ['404', { status: 404, body: envelope(404, 'no such thing') }],
    ['a redirect', { status: 302, body: '', headers: { location: '/blocked' } }],
    ['405', { status: 405, body: '' }],
  ])('a firewall that answers %s to one order of 40', async (_, odd) => {
    await using api = await openOddApi(({ endpoint, order }) =>
      endpoint === 'create' && order?.purchaseOrderNumber === 'PO-7' ? odd : undefined,
    );
    await using place = await openTroublePlace(api);
    const numbers = numbered(40);
    await place.drop('orders.csv', csv(numbers));
    await until('the others', () => api.stored.length === 39);
    // Others keep passing: what is refused again and again meanwhile is this one order.
    let files = 0;
    await until(
      'an outcome of the refused order',
      async () => {
        files += 1;
        await place.drop(`more-${files}.csv`, csv([`MORE-${files}`]));
        await until('one more order', () => times(api, `MORE-${files}`) === 1);
        return 'PO-7' in (await place.outcomes());
      },
      60_000,
    );
    const outcomes = await place.outcomes();
    expect(outcomes['PO-7']).toBe('refused');
    expect(numbers.filter((number) => outcomes[number] === 'accepted')).toHaveLength(39);
    expect(createsOf(api, 'PO-7')).toBeLessThanOrEqual(30);
  });

  it('HTTP 400 with a complete envelope of another code is a refusal', async () => {
    await using api = await openOddApi(({ endpoint }) =>
      endpoint === 'create' ? { status: 400, body: envelope(1001, 'article is blocked') } : undefined,
    );
    await using place = await openTroublePlace(api);
    await place.drop('orders.csv', csv(['PO-1', 'PO-2']));
    expect(await place.settled(['PO-1', 'PO-2'])).toEqual({ 'PO-1': 'refused', 'PO-2': 'refused' });
    expect(createsOf(api, 'PO-1')).toBe(1);
  });

  it('201 without a body: the list proves each, and delivery does not pause', async () => {
    await using api = await openOddApi(({ endpoint }) =>
      endpoint === 'create' ? { status: 201, body: '', store: true } : undefined,
    );
    await using place = await openTroublePlace(api);
    const numbers = numbered(60);
    await place.drop('orders.csv', csv(numbers));
    const outcomes = await place.settled(numbers, 60_000);
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['accepted']));
    expect(api.stored).toHaveLength(60);
  });

  it('a file of one order behind a file of 600 under 20 calls a second', async () => {
    await using api = await openOddApi();
    await using place = await openTroublePlace(api, { environment: 'rateLimit: { max: 20, per: 1s }' });
    await place.drop('large.csv', csv(numbered(600)));
    await until('the large file runs', () => api.stored.length > 20);
    const before = performance.now();
    await place.drop('small.csv', csv(['SMALL-1']));
    await until('the small file', () => times(api, 'SMALL-1') === 1, 20_000);
    expect(performance.now() - before).toBeLessThan(12_000);
  });
});

describe('people', () => {
  it('a pause takes effect at once, also under a rate limit', async () => {
    await using api = await openOddApi();
    await using place = await openTroublePlace(api, { environment: 'rateLimit: { max: 5, per: 1s }' });
    await place.drop('orders.csv', csv(numbered(60)));
    await until('some orders', () => api.stored.length > 5);
    expect((await place.run('pause', '--reason', 'stock-taking')).code).toBe(0);
    const then = api.stored.length;
    const now = performance.now();
    await until('three seconds', () => performance.now() - now > 3_000);
    expect(api.stored.length - then).toBeLessThanOrEqual(1);
    expect((await place.run('resume')).code).toBe(0);
    await until('it resumes', () => api.stored.length > then + 3);
  });

  it('a long Retry-After is a pause with a reason that resume ends', async () => {
    let answered = false;
    await using api = await openOddApi(({ endpoint }) => {
      if (endpoint !== 'create' || answered) return undefined;
      answered = true;
      return { status: 429, headers: { 'retry-after': '3000' } };
    });
    await using place = await openTroublePlace(api);
    await place.drop('orders.csv', csv(numbered(5)));
    await until('the pause is shown', async () => (await place.status()).pauses.length > 0);
    expect((await place.run('resume')).code).toBe(0);
    const outcomes = await place.settled(numbered(5));
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['accepted']));
  });

  it('a batch whose last answers are refused alike is not held: its orders can be sent again', async () => {
    let isFixed = false;
    await using api = await openOddApi(({ endpoint }) =>
      endpoint === 'create' && !isFixed ? { status: 400, body: envelope(400, 'article is unknown') } : undefined,
    );
    await using place = await openTroublePlace(api);
    // As many orders as answers decide about a hold.
    const numbers = numbered(40);
    await place.drop('orders.csv', csv(numbers));
    expect(new Set(Object.values(await place.settled(numbers)))).toEqual(new Set(['refused']));
    const { out } = await place.run('batches', 'list', '--json');
    expect(JSON.parse(out).batches).toMatchObject([{ state: 'finished' }]);
    isFixed = true;
    expect((await place.run('dead-letters', 'retry', '--yes')).code).toBe(0);
    await until('all orders', () => api.stored.length === 40);
    expect(new Set(numbers.map((number) => times(api, number)))).toEqual(new Set([1]));
  });

  it('canceling a batch passes an order to the other file that waits for it', async () => {
    await using api = await openOddApi();
    await using place = await openTroublePlace(api);
    await until('the daemon is ready', () => place.daemon.out().includes('ready'));
    await place.run('pause', '--reason', 'test');
    await place.drop('first.csv', csv(['PO-1', 'PO-2']));
    await until('the first file waits', async () => (await place.status()).queue.unsettledOrders === 2);
    await place.drop('second.csv', csv(['PO-1']));
    const batches = async () =>
      JSON.parse((await place.run('batches', 'list', '--json')).out).batches as {
        batch: string;
        file: string;
        state: string;
      }[];
    const first = await until('both files', async () => {
      const all = await batches();
      return all.length === 2 && all.find(({ file }) => file === 'first.csv')?.batch;
    });
    await place.run('batches', 'cancel', first, '--yes');
    await place.run('resume');
    await until('the second file', () => place.outcomeIn('second.csv', 'PO-1'));
    expect(await place.outcomeIn('first.csv', 'PO-1')).toBe('cancelled');
    expect(await place.outcomeIn('second.csv', 'PO-1')).toBe('accepted');
    expect(times(api, 'PO-1')).toBe(1);
    expect(times(api, 'PO-2')).toBe(0);
  });
});
