import { describe, expect, it } from 'vitest';
import { envelope, type OddApi, openOddApi } from '../support/odd-api.ts';
import { until } from '../support/until.ts';
import { csv, numbered, openTroublePlace, times } from './trouble-place.ts';

/** The waits of the configuration's defaults. */
const PACE = 'settle: 5s, probe: { initial: 5s, max: 5m }';

/**
 * An API that refuses a token until it is `skew` milliseconds old: its clock is behind, or it learns of tokens late.
 * `isLate`: whether that holds for a call.
 */
async function openLateApi(skew: number, lifetime = 3_600, isLate = (_nth: number) => true) {
  const issued = new Map<string, number>();
  const api = await openOddApi(({ endpoint, nth, token }) => {
    if (endpoint === 'token') {
      issued.set(`token-${nth}`, performance.now());
      const body = { access_token: `token-${nth}`, token_type: 'Bearer', expires_in: lifetime };
      return { body };
    }
    const age = performance.now() - (issued.get(token) ?? Number.NEGATIVE_INFINITY);
    const isRefused = age < skew && isLate(nth);
    return isRefused ? { status: 401, body: envelope(401, 'not yet valid') } : undefined;
  });
  return Object.assign(api, { issued });
}

const calls = (api: OddApi, which: OddApi['calls'][number]['endpoint'], status = 0) =>
  api.calls.filter((one) => one.endpoint === which && (status === 0 || one.status === status));

describe.concurrent('an API that accepts a token later than it was issued', () => {
  it.each([2_000, 10_000])(
    'by %i ms gets the orders within seconds after that, with one token request',
    async (skew) => {
      await using api = await openLateApi(skew);
      await using place = await openTroublePlace(api, {
        pace: PACE,
      });
      const numbers = numbered(20);
      await place.drop('orders.csv', csv(numbers));
      if (skew === 10_000)
        await until('the reason', async () =>
          (await place.status()).pauses.some(({ message }) =>
            message.includes('the API does not accept fresh tokens yet; not yet valid'),
          ),
        );
      await place.settled(numbers);
      expect(calls(api, 'token')).toHaveLength(1);
      expect(numbers.filter((number) => times(api, number) !== 1)).toEqual([]);
    },
  );

  it.each([2_000, 10_000])(
    'by %i ms is sent orders with the token in use while it is renewed, without a pause',
    async (skew) => {
      const lifetime = Math.max(6, (5.5 * skew) / 1_000);
      await using api = await openLateApi(skew, lifetime, () => calls(api, 'token').length > 1);
      await using place = await openTroublePlace(api, {
        pace: PACE,
        environment: 'rateLimit: { max: 10, per: 1s }',
      });
      const numbers = numbered(Math.round(10 * lifetime));
      await place.drop('orders.csv', csv(numbers));
      await place.settled(numbers);
      const tokens = calls(api, 'token');
      const renewals =
        ((calls(api, 'create').at(-1)?.at ?? 0) - (tokens[0]?.at ?? 0)) / (700 * lifetime);
      expect(tokens.length).toBeGreaterThan(1);
      expect(tokens.length).toBeLessThanOrEqual(1 + Math.ceil(renewals));
      expect(calls(api, 'create', 401).length).toBeGreaterThan(0);
      expect(calls(api, 'create', 401).length).toBeLessThan(12 * (tokens.length - 1));
      expect(numbers.filter((number) => times(api, number) !== 1)).toEqual([]);
      expect(place.daemon.out()).not.toContain('"event":"delivery-paused"');
    },
  );

  it('on one of its two servers gets the orders meanwhile', async () => {
    await using api = await openLateApi(3_000, 3_600, (nth) => nth % 2 === 0);
    await using place = await openTroublePlace(api, {
      pace: PACE,
    });
    const numbers = numbered(100);
    await place.drop('orders.csv', csv(numbers));
    expect(new Set(Object.values(await place.settled(numbers)))).toEqual(new Set(['accepted']));
    expect(calls(api, 'token').length).toBeLessThan(3);
    expect(numbers.filter((number) => times(api, number) !== 1)).toEqual([]);
  });

  it('gets orders again at once when a token that was used for long is revoked', async () => {
    await using api = await openLateApi(0);
    await using place = await openTroublePlace(api, {
      pace: PACE,
    });
    await place.drop('one.csv', csv(['ONE-1']));
    await place.settled(['ONE-1']);
    const [issued = 0] = api.issued.values();
    await until('an old token', () => performance.now() - issued > 31_000);
    api.revoked.add('token-1');
    await place.drop('two.csv', csv(['TWO-1', 'TWO-2']));
    await place.settled(['ONE-1', 'TWO-1', 'TWO-2']);
    expect(calls(api, 'token')).toHaveLength(2);
    expect(place.daemon.out()).not.toContain('"event":"delivery-paused"');
  });
});
