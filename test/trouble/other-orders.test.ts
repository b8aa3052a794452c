import { describe, expect, it } from 'vitest';
import { envelope, openOddApi } from '../support/odd-api.ts';
import { until } from '../support/until.ts';
import { createsOf, csv, numbered, openTroublePlace, times } from './trouble-place.ts';

describe.concurrent('one order never stops the others', () => {
  it.each([
    ['403', { status: 403, body: '<html>Request blocked: rule 942100</html>' }],
    ['404', { status: 404, body: envelope(404, 'no such thing') }],
    ['a redirect', { status: 302, body: '', headers: { location: '/blocked' } }],
    ['405', { status: 405, body: '' }],
    ['401', { status: 401, body: envelope(401, 'not you') }],
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

  it.each([
    [
      'HTTP 400 with a complete envelope of another code',
      { status: 400, body: envelope(1001, 'article is blocked') },
    ],
    [
      'HTTP 422 with a complete envelope',
      { status: 422, body: envelope(422, 'article is blocked') },
    ],
    ['HTTP 409 with a complete envelope', { status: 409, body: envelope(409, 'number is taken') }],
    [
      'HTTP 200 with the envelope of a refusal',
      { status: 200, body: envelope(400, 'article'), store: false },
    ],
  ])('%s is a refusal', async (_, odd) => {
    await using api = await openOddApi(({ endpoint }) => (endpoint === 'create' ? odd : undefined));
    await using place = await openTroublePlace(api);
    await place.drop('orders.csv', csv(['PO-1', 'PO-2']));
    expect(await place.settled(['PO-1', 'PO-2'])).toEqual({ 'PO-1': 'refused', 'PO-2': 'refused' });
    expect(createsOf(api, 'PO-1')).toBe(1);
  });

  it.each([
    ['201 without a body', { status: 201, body: '' }],
    ['200 without a body', { status: 200, body: '' }],
    ['201 with a plain text', { status: 201, body: 'created' }],
    ['201 with an empty object', { status: 201, body: '{}' }],
    [
      '202 with an envelope without data',
      { status: 202, body: { status: 'success', data: null, error: null } },
    ],
  ])('%s: the list proves each order', async (_, odd) => {
    await using api = await openOddApi(({ endpoint }) =>
      endpoint === 'create' ? { ...odd, store: true } : undefined,
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
