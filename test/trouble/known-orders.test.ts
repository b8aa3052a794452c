import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { created, listed, openOddApi, type StoredOrder } from '../support/odd-api.ts';
import { until } from '../support/until.ts';
import { createsOf, csv, numbered, openTroublePlace, times } from './trouble-place.ts';

describe.concurrent('an order that the API has is never sent again', () => {
  it('a conflict that a file shows again, with the same or with other content', async () => {
    const others: StoredOrder = {
      purchaseOrderNumber: 'PO-1',
      orderState: 'NEW',
      items: [{ articleCode: 'OTHER', quantity: 9 }],
    };
    await using api = await openOddApi(({ endpoint, order, attempt }, { stored }) => {
      if (endpoint !== 'create' || order?.purchaseOrderNumber !== 'PO-1' || attempt > 1)
        return undefined;
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
    expect(await until('the fourth file', () => place.outcomeIn('equal.csv', 'PO-1'))).toBe(
      'duplicate',
    );
    await place.run('dead-letters', 'retry', '--yes');
    await place.drop('last.csv', csv(['PO-2']));
    await place.settled(['PO-2']);
    expect(createsOf(api, 'PO-1')).toBe(1);
    expect(times(api, 'PO-1')).toBe(1);
  });

  it('a conflict that an export shows again, with the same or with other content', async () => {
    await using api = await openOddApi(({ endpoint, order, attempt }, { stored }) => {
      if (endpoint !== 'create' || order?.purchaseOrderNumber !== 'PO-1' || attempt > 1)
        return undefined;
      stored.push({ ...order, items: [{ articleCode: 'OTHER', quantity: 9 }] });
      return { drop: true };
    });
    const inbox = '  - { name: inbox, type: inbox, path: inbox, stable: 100ms, poll: 200ms }';
    const erp = '  - { name: erp, type: export, path: erp.csv, stable: 100ms, poll: 200ms }';
    await using place = await openTroublePlace(api, { sources: `${inbox}\n${erp}` });
    const show = (content: string) => writeFile(path.join(place.folder, 'erp.csv'), content);
    await show(csv(['PO-1']));
    expect(await place.settled(['PO-1'])).toEqual({ 'PO-1': 'conflict' });
    await show(csv(['PO-1', 'PO-2']));
    await place.settled(['PO-2']);
    await show(csv(['PO-1', 'PO-2', 'PO-3']).replace('PO-1,ART-1,1', 'PO-1,ART-1,5'));
    await place.settled(['PO-3']);
    expect(createsOf(api, 'PO-1')).toBe(1);
    expect(times(api, 'PO-1')).toBe(1);
  });

  const upper = (number: string) => number.toUpperCase();
  const same = (number: string) => number;
  it.each([
    ['writes in upper case, in its answer and in its list', upper, upper],
    ['writes in upper case, in its list only', same, upper],
  ])('numbers that the API %s', async (_, inAnswer, inList) => {
    await using api = await openOddApi(({ endpoint, order, attempt }, { stored }) => {
      if (endpoint === 'create' && order) {
        if (inAnswer === same && attempt === 1) return { drop: true, store: true };
        return { status: 201, body: created(inAnswer(order.purchaseOrderNumber)), store: true };
      }
      const shown = stored.map((one) => ({
        ...one,
        purchaseOrderNumber: inList(one.purchaseOrderNumber),
      }));
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
});
