import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { openOddApi } from '../support/odd-api.ts';
import { until } from '../support/until.ts';
import { csv, openTroublePlace, type TroublePlace } from './trouble-place.ts';

/** The order numbers of the calls, as they were sent. */
const sent = (calls: readonly { endpoint: string; order?: string }[]) =>
  calls.flatMap(({ endpoint, order }) => (endpoint === 'create' && order !== undefined ? [order] : []));

/** Flushes Redis; resolves when the daemon has noticed. `over` resolves when the API's list is in the new ledger. */
async function flush(place: TroublePlace) {
  const redis = new Redis(place.redis?.url ?? '');
  const pending = async () => (await redis.keys('*:rebuild')).length > 0;
  await redis.flushall();
  await until('the request for the list', pending);
  return {
    over: () => until('the list', async () => !(await pending())),
    [Symbol.asyncDispose]: async () => redis.disconnect(),
  };
}

describe('after Redis was flushed', () => {
  it('an order of a new file that the API has already is a duplicate, not accepted', async () => {
    await using api = await openOddApi();
    await using place = await openTroublePlace(api);
    await place.drop('first.csv', csv(['PO-1']));
    await place.settled(['PO-1']);
    const other = { purchaseOrderNumber: 'OTHER', orderState: 'NEW', items: [{ articleCode: 'ART-1', quantity: 1 }] };
    api.stored.push(other);
    await using flushed = await flush(place);
    await place.drop('second.csv', csv(['PO-1', 'OTHER', 'PO-2']));
    await flushed.over();
    await until('the report', () => place.outcomeIn('second.csv', 'PO-2'));
    expect(await Promise.all(['PO-1', 'OTHER', 'PO-2'].map((number) => place.outcomeIn('second.csv', number)))).toEqual(
      ['duplicate', 'duplicate', 'accepted'],
    );
    expect(sent(api.calls)).toEqual(['PO-1', 'PO-2']);
  });

  it('an order whose number the API rewrites is not sent again: it waits for a person', async () => {
    await using api = await openOddApi(({ endpoint, order }, { stored }) => {
      if (endpoint !== 'create' || order === undefined) return undefined;
      const purchaseOrderNumber = order.purchaseOrderNumber.toUpperCase().replace(/^0+/, '');
      stored.push({ ...order, purchaseOrderNumber });
      const data = { purchaseOrderNumber, orderState: 'NEW' };
      return { status: 201, body: { status: 'success', data, error: null }, store: false };
    });
    await using place = await openTroublePlace(api);
    const numbers = ['po-1', '007', 'PO-2'];
    await place.drop('first.csv', csv(numbers));
    await place.settled(numbers);
    await using flushed = await flush(place);
    await flushed.over();
    await place.drop('second.csv', csv(numbers));
    await until('the report', () => place.outcomeIn('second.csv', 'PO-2'));
    expect(sent(api.calls).sort()).toEqual([...numbers].sort());
    expect(await Promise.all(numbers.map((number) => place.outcomeIn('second.csv', number)))).toEqual([
      'inDoubt',
      'inDoubt',
      'duplicate',
    ]);
  });
});
