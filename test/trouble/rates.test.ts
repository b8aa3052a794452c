import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { envelope, type OddAnswer, type OddCall, openOddApi } from './odd-api.ts';
import { csv, highestRate, numbered, openTroublePlace } from './trouble-place.ts';

/** The contract allows a few calls a second to any endpoint while nothing succeeds. */
const MOST = 5;
/** Calls that were in flight when the trouble began may still end. */
const NOTICED = 3_000;
const WATCHED = 6_000;

type Row = { stays: string; odd: (call: OddCall) => OddAnswer | undefined };

const html: OddAnswer = {
  status: 403,
  body: '<html><body>Blocked</body></html>',
  headers: { 'content-type': 'text/html' },
};
const onCreate =
  (answer: OddAnswer) =>
  ({ endpoint }: OddCall) =>
    endpoint === 'create' ? answer : undefined;

const ROWS: Row[] = [
  {
    stays: 'the token endpoint gives the same token again, the API answers 401',
    odd: ({ endpoint }) =>
      endpoint === 'token'
        ? { status: 200, body: { access_token: 'same', token_type: 'Bearer', expires_in: 3600 } }
        : endpoint === 'create'
          ? { status: 401, body: envelope(401, 'no') }
          : undefined,
  },
  { stays: 'a new token each time, the API answers 401', odd: onCreate({ status: 401, body: envelope(401, 'no') }) },
  {
    stays: '429 with Retry-After: 0',
    odd: onCreate({ status: 429, body: envelope(429, 'slow'), headers: { 'retry-after': '0' } }),
  },
  {
    stays: '429 with a date in the past',
    odd: onCreate({ status: 429, headers: { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' } }),
  },
  { stays: '429 without Retry-After', odd: onCreate({ status: 429 }) },
  {
    stays: '503 with a complete envelope and Retry-After: 0',
    odd: onCreate({ status: 503, headers: { 'retry-after': '0' } }),
  },
  { stays: '403 with a page of a firewall', odd: onCreate(html) },
  { stays: '404', odd: onCreate({ status: 404 }) },
  { stays: 'a redirect', odd: onCreate({ status: 302, body: '', headers: { location: '/login' } }) },
  { stays: '500', odd: onCreate({ status: 500 }) },
  { stays: '418', odd: onCreate({ status: 418, body: 'teapot' }) },
  { stays: '200 with a page', odd: onCreate({ status: 200, body: '<html>', store: false }) },
  { stays: 'dropped connections', odd: onCreate({ drop: true }) },
  {
    stays: 'dropped connections and a list that answers 500',
    odd: ({ endpoint, nth }) =>
      endpoint === 'create' ? { drop: true } : endpoint === 'list' && nth > 1 ? { status: 500 } : undefined,
  },
  {
    stays: 'dropped connections and a list that answers 401',
    odd: ({ endpoint, nth }) =>
      endpoint === 'create' ? { drop: true } : endpoint === 'list' && nth > 1 ? { status: 401 } : undefined,
  },
  {
    stays: 'a token endpoint that answers 500',
    odd: ({ endpoint }) => (endpoint === 'token' ? { status: 500, body: 'down' } : undefined),
  },
  {
    stays: 'a token endpoint that answers a page with 200',
    odd: ({ endpoint }) => (endpoint === 'token' ? { status: 200, body: '<html>' } : undefined),
  },
  {
    stays: 'a list that answers 500 from the first start on',
    odd: ({ endpoint }) => (endpoint === 'list' ? { status: 500 } : undefined),
  },
];

const table: Record<string, unknown>[] = [];

describe('while nothing succeeds, no endpoint gets more than five calls a second', () => {
  afterAll(() => {
    console.table(table);
  });

  it.each(ROWS)('$stays', async ({ stays, odd }) => {
    await using api = await openOddApi(odd);
    await using place = await openTroublePlace(api);
    await place.drop('orders.csv', csv(numbered(60)));
    await until('the first calls', () => api.calls.length > 1);
    const from = performance.now() + NOTICED;
    await until('the watched time', () => performance.now() > from + WATCHED, WATCHED + NOTICED + 5_000);
    const rates = {
      create: highestRate(api, 'create', from, from + WATCHED),
      token: highestRate(api, 'token', from, from + WATCHED),
      list: highestRate(api, 'list', from, from + WATCHED),
    };
    const { pauses, queue, deadLetters } = await place.status();
    table.push({ stays, ...rates, pause: pauses[0]?.code ?? '', waiting: queue.unsettledOrders, deadLetters });
    expect(Math.max(rates.create, rates.token, rates.list)).toBeLessThanOrEqual(MOST);
    // Nothing disappears: an order waits behind a pause that status names, or for a person.
    expect(pauses.length > 0 || deadLetters > 0 || queue.unsettledOrders > 0).toBe(true);
  });
});
