import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ledgerStates } from '../support/ledger-states.ts';
import { envelope, openOddApi } from '../support/odd-api.ts';
import { until } from '../support/until.ts';
import { csv, numbered, openTroublePlace, times } from './trouble-place.ts';

describe.concurrent('people', () => {
  it.each([
    ['at full speed', ''],
    ['under a rate limit', 'rateLimit: { max: 5, per: 1s }'],
  ])('a pause takes effect at once, %s', async (_, environment) => {
    await using api = await openOddApi(({ endpoint }) =>
      endpoint === 'create' ? { after: 20 } : undefined,
    );
    await using place = await openTroublePlace(api, { environment });
    const numbers = numbered(environment === '' ? 600 : 60);
    await place.drop('orders.csv', csv(numbers));
    await until('some orders', () => api.stored.length > 5);
    expect((await place.run('pause', '--reason', 'stock-taking')).code).toBe(0);
    // What has its intent by now is under way or settled; what is settled was stored.
    const states = await ledgerStates(place.redis?.url ?? '');
    const waiting = numbers.filter((number) =>
      states.has(number) ? states.get(number) === 'queued' : times(api, number) === 0,
    );
    expect(waiting).not.toEqual([]);
    await delay(2_000);
    expect(waiting.filter((number) => times(api, number) > 0)).toEqual([]);
    expect((await place.run('resume')).code).toBe(0);
    await place.settled(numbers);
    expect(api.stored).toHaveLength(numbers.length);
  });

  it.each([
    ['429', new Date(Date.now() + 3_000_000).toUTCString()],
    ['503', '3000'],
  ])('%s with Retry-After: %s is a pause with a reason that resume ends', async (status, wait) => {
    let isBusy = true;
    await using api = await openOddApi(({ endpoint }) =>
      endpoint === 'create' && isBusy
        ? { status: Number(status), headers: { 'retry-after': wait } }
        : undefined,
    );
    await using place = await openTroublePlace(api);
    await place.drop('orders.csv', csv(numbered(5)));
    await until('the pause is shown', async () => (await place.status()).pauses.length > 0);
    isBusy = false;
    expect((await place.run('resume')).code).toBe(0);
    const outcomes = await place.settled(numbered(5));
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['accepted']));
  });

  it('a restart with credentials that are valid again ends the pause at once, however far away its next try is', async () => {
    let areValid = true;
    await using api = await openOddApi(({ endpoint }) =>
      areValid || endpoint === 'list'
        ? undefined
        : { status: 401, body: { error: 'invalid_client' } },
    );
    const pace =
      'settle: 1s, timeout: 5s, backoff: { initial: 100ms, max: 1s }, probe: { initial: 10m, max: 10m }';
    await using place = await openTroublePlace(api, { pace });
    await place.drop('before.csv', csv(['BEFORE-1']));
    await place.settled(['BEFORE-1']);
    areValid = false;
    await place.drop('orders.csv', csv(numbered(5)));
    await until('the pause', async () =>
      (await place.status()).pauses.some(({ code }) => code === 'token-refused'),
    );
    areValid = true;
    await place.restart();
    expect(await place.settled(numbered(5))).toMatchObject({
      'PO-1': 'accepted',
      'PO-5': 'accepted',
    });
    expect((await place.status()).pauses).toEqual([]);
  });

  it('a batch whose last answers are refused alike is not held: its orders can be sent again', async () => {
    let isFixed = false;
    await using api = await openOddApi(({ endpoint }) =>
      endpoint === 'create' && !isFixed
        ? { status: 400, body: envelope(400, 'article is unknown') }
        : undefined,
    );
    await using place = await openTroublePlace(api);
    // As many orders as answers decide about a hold.
    const numbers = numbered(40);
    await place.drop('orders.csv', csv(numbers));
    expect(new Set(Object.values(await place.settled(numbers)))).toEqual(new Set(['refused']));
    // Its report is written after the last outcome.
    await until('a finished batch', async () => {
      const { out } = await place.run('batches', 'list', '--json');
      const { batches } = JSON.parse(out) as { batches: { state: string }[] };
      return batches.length === 1 && batches[0]?.state === 'finished';
    });
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
    await until(
      'the first file waits',
      async () => (await place.status()).queue.unsettledOrders === 2,
    );
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
