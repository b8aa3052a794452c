import { describe, expect, it } from 'vitest';
import { type OddAnswer, openOddApi } from '../support/odd-api.ts';
import { until } from '../support/until.ts';
import { createsOf, csv, numbered, openTroublePlace, times } from './trouble-place.ts';

describe.concurrent('doubt ends', () => {
  it('a list that answers 401 after a revocation is read again with a new token', async () => {
    await using api = await openOddApi(({ endpoint, attempt, token }, { revoked }) => {
      if (endpoint !== 'create' || attempt > 1) return undefined;
      revoked.add(token);
      return { drop: true, store: true };
    });
    await using place = await openTroublePlace(api);
    await place.drop('orders.csv', csv(['PO-1']));
    expect(await place.settled(['PO-1'])).toEqual({ 'PO-1': 'accepted' });
    expect(times(api, 'PO-1')).toBe(1);
  });

  it('a list that always fails leaves the order to a person after ten settle times, who can resolve it', async () => {
    await using api = await openOddApi(({ endpoint, nth }) => {
      if (endpoint === 'create') return { drop: true };
      return endpoint === 'list' && nth > 1 ? { status: 500 } : undefined;
    });
    await using place = await openTroublePlace(api);
    await place.drop('orders.csv', csv(['PO-1']));
    expect(await place.settled(['PO-1'])).toEqual({ 'PO-1': 'inDoubt' });
    expect(
      (await place.run('dead-letters', 'resolve', 'PO-1', '--as', 'accepted', '--yes')).code,
    ).toBe(0);
  });

  it.each([
    ['from the first day on', 0, 'list: trust'],
    ['while the list must prove what is absent', 2, 'list: prove'],
  ])(
    'after an outage longer than ten settle times, with no order left to a person: %s',
    async (_, before, environment) => {
      let begin: number | undefined;
      let created = 0;
      await using api = await openOddApi(({ endpoint }) => {
        if (endpoint !== 'create') return undefined;
        created += 1;
        if (created <= before) return undefined;
        begin ??= performance.now();
        return performance.now() - begin < 14_000
          ? { status: 502, body: '<html>Bad gateway</html>' }
          : undefined;
      });
      await using place = await openTroublePlace(api, { environment });
      const numbers = numbered(20);
      await place.drop('first.csv', csv(numbers.slice(0, before)));
      await place.settled(numbers.slice(0, before));
      await place.drop('orders.csv', csv(numbers.slice(before)));
      const outcomes = await place.settled(numbers);
      expect(new Set(Object.values(outcomes))).toEqual(new Set(['accepted']));
      for (const number of numbers) expect(times(api, number)).toBe(1);
    },
  );

  it('an order that waits for the list can be resolved by a person at once', async () => {
    await using api = await openOddApi(({ endpoint, nth }) => {
      if (endpoint === 'create') return { drop: true };
      return endpoint === 'list' && nth > 1 ? { status: 500 } : undefined;
    });
    const pace =
      'settle: 30s, timeout: 5s, backoff: { initial: 100ms, max: 1s }, probe: { initial: 250ms, max: 2s }';
    await using place = await openTroublePlace(api, { pace });
    await place.drop('orders.csv', csv(['PO-1']));
    await until('the lost call', () => createsOf(api, 'PO-1') === 1);
    await until(
      'the doubt',
      async () =>
        (await place.run('dead-letters', 'resolve', 'PO-1', '--as', 'accepted', '--yes')).code ===
        0,
    );
    expect(await place.settled(['PO-1'])).toEqual({ 'PO-1': 'accepted' });
  });

  it.each<[string, OddAnswer]>([
    ['hangs once', { hang: true }],
    ['is slow once', { after: 6_000 }],
    ['answers 429 once', { status: 429, headers: { 'retry-after': '1' } }],
    [
      'answers 503 with Retry-After: 3000 once',
      { status: 503, headers: { 'retry-after': '3000' } },
    ],
    ['is cut once', { status: 200, body: '{"status":"success","data":{"purchaseOrders":[' }],
  ])('a list that %s does not stop the next one', async (_, odd) => {
    await using api = await openOddApi(({ endpoint, nth, attempt }) => {
      if (endpoint === 'create' && attempt === 1) return { drop: true, store: true };
      return endpoint === 'list' && nth === 2 ? odd : undefined;
    });
    await using place = await openTroublePlace(api);
    await place.drop('orders.csv', csv(['PO-1']));
    const outcomes = await place.settled(['PO-1']);
    expect(['accepted', 'inDoubt']).toContain(outcomes['PO-1']);
    expect(times(api, 'PO-1')).toBe(1);
  });
});

describe.concurrent('an order that the list shows twice', () => {
  it('is accepted; report, log, status and explain say that it was created twice until a list shows it once', async () => {
    await using api = await openOddApi(({ endpoint, order, attempt }, { stored }) => {
      if (endpoint !== 'create' || !order || attempt > 1) return undefined;
      // The API stores what it is sent a second time.
      stored.push(order);
      return { drop: true, store: true };
    });
    await using place = await openTroublePlace(api);
    await place.drop('orders.csv', csv(['PO-1']));
    expect(await place.settled(['PO-1'])).toEqual({ 'PO-1': 'accepted' });
    expect(await place.codeIn('orders.csv', 'PO-1')).toBe('created-twice');
    expect(await place.run('reconcile')).toMatchObject({
      code: 2,
      out: expect.stringContaining('1 order created twice'),
    });
    const twice = async () =>
      (await place.status()).guarantee.find(({ assumption }) => assumption === 'once')?.measured;
    expect(await twice()).toBe(1);
    expect((await place.run('explain', 'PO-1')).out).toContain(
      "Created twice: the API's last list shows it 2 times.",
    );
    expect(JSON.parse((await place.run('explain', 'PO-1', '--json')).out)).toMatchObject({
      timesListed: 2,
    });
    // The owner of the API removed one of them.
    api.stored.splice(0, 1);
    expect(await place.run('reconcile')).toMatchObject({ code: 0 });
    expect(await twice()).toBe(0);
    await until('the log', () => place.daemon.out().includes('"event":"order-created-twice"'));
  });
});
