import { describe, expect, it } from 'vitest';
import { openOddApi } from '../support/odd-api.ts';
import { until } from '../support/until.ts';
import { createsOf, csv, numbered, openTroublePlace, times } from './trouble-place.ts';

describe.concurrent('one order never stops the others', () => {
  it.each([
    ['403', { status: 403, body: '<html>Request blocked: rule 942100</html>' }],
    ['a redirect', { status: 302, body: '', headers: { location: '/blocked' } }],
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
    await until('an outcome of the refused order', async () => {
      files += 1;
      await place.drop(`more-${files}.csv`, csv([`MORE-${files}`]));
      await until('one more order', () => times(api, `MORE-${files}`) === 1);
      return 'PO-7' in (await place.outcomes());
    });
    const outcomes = await place.outcomes();
    expect(outcomes['PO-7']).toBe('refused');
    expect(numbers.filter((number) => outcomes[number] === 'accepted')).toHaveLength(39);
    expect(createsOf(api, 'PO-7')).toBeLessThanOrEqual(30);
  });

  it('answers that do not show the order: the list proves each', async () => {
    const odd = [
      { status: 201, body: '' },
      { status: 200, body: '' },
      { status: 201, body: 'created' },
      { status: 201, body: '{}' },
      { status: 202, body: { status: 'success', data: null, error: null } },
    ];
    await using api = await openOddApi(({ endpoint, nth }) =>
      endpoint === 'create' ? { ...odd[nth % odd.length], store: true } : undefined,
    );
    await using place = await openTroublePlace(api);
    const numbers = numbered(60);
    await place.drop('orders.csv', csv(numbers));
    const outcomes = await place.settled(numbers);
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['accepted']));
    expect(api.stored).toHaveLength(60);
  });

  it('a file of one order behind a file of 600 under 20 calls a second', async () => {
    await using api = await openOddApi();
    await using place = await openTroublePlace(api, {
      environment: 'rateLimit: { max: 20, per: 1s }',
    });
    await place.drop('large.csv', csv(numbered(600)));
    await until('the large file runs', () => api.stored.length > 20);
    await place.drop('small.csv', csv(['SMALL-1']));
    await until('the small file', () => times(api, 'SMALL-1') === 1);
    expect(api.stored.length).toBeLessThan(500);
  });
});
