import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type DeliveryRig, numbersOf, openDeliveryRig } from '../support/delivery-rig.ts';
import {
  type Endpoint,
  granted,
  type OddAnswer,
  type OddApi,
  oddAt,
  openOddApi,
} from '../support/odd-api.ts';
import { until } from '../support/until.ts';
import { busiest } from './trouble-row.ts';

/** Calls a second to any endpoint while nothing succeeds. */
const FEW = 5;
/** What is in flight when the trouble begins, and one renewal. */
const START = 1_000;

/** Waits of the probe as long as a rate can be measured. */
const SLOW = { probe: { initial: 400, max: 2_000 } };

/** Times of the calls of one endpoint, from so many milliseconds after the first one on. */
function timesOf({ calls }: OddApi, endpoint: Endpoint, after = 0): number[] {
  const times = calls.filter((call) => call.endpoint === endpoint).map(({ at }) => at);
  return times.filter((at) => at >= (times[0] ?? 0) + after);
}

async function trouble(
  api: OddApi,
  more: Parameters<typeof openDeliveryRig>[0] = {},
): Promise<DeliveryRig> {
  const rig = await openDeliveryRig({ partner: api, delivery: SLOW, ...more });
  await rig.submit('b1', numbersOf(30));
  return rig;
}

describe.concurrent('while nothing succeeds', () => {
  it.each<[string, OddAnswer]>([
    ['401', { status: 401 }],
    ['403', { status: 403, body: '<html>' }],
    ['404', { status: 404, body: '' }],
    ['405', { status: 405 }],
    ['a redirect', { status: 302, body: '', headers: { location: '/login' } }],
    ['429', { status: 429 }],
    ['429 with Retry-After: 0', { status: 429, body: '', headers: { 'retry-after': '0' } }],
    [
      '429 with a date in the past',
      { status: 429, body: '', headers: { 'retry-after': 'Sat, 01 Jan 2022 00:00:00 GMT' } },
    ],
    ['503 with Retry-After: 0', { status: 503, headers: { 'retry-after': '0' } }],
    ['500', { status: 500, body: '<html>' }],
    ['a login page with 200', { status: 200, body: '<html>' }],
    ['dropped connections', { drop: true }],
  ])('the API gets a few calls a second, whatever it answers: %s', async (_, answer) => {
    await using api = await openOddApi(
      ({ endpoint }) => ({ create: answer, list: { status: 500 }, token: undefined })[endpoint],
    );
    await using rig = await trouble(api);
    await until('a pause', () => rig.breaker.current());
    await delay(START + 1_500);
    for (const endpoint of ['create', 'token'] as const) {
      expect(busiest(timesOf(api, endpoint, START), api)).toBeLessThanOrEqual(FEW);
    }
    expect(rig.breaker.current()).toMatchObject({ held: false, nextTryAt: expect.any(Number) });
    expect(await rig.ledger.unsettled()).toBe(30);
  });

  it('the token endpoint that gives the same token again after a 401 is asked a few times a second', async () => {
    const same = { body: granted('the-same') };
    await using api = await openOddApi(
      ({ endpoint }) => ({ token: same, create: { status: 401 }, list: undefined })[endpoint],
    );
    await using rig = await trouble(api);
    await until('a pause', () => rig.breaker.current()?.code === 'token-not-accepted');
    await delay(START + 1_000);
    expect(busiest(timesOf(api, 'token', START), api)).toBeLessThanOrEqual(FEW);
    expect(busiest(timesOf(api, 'create', START), api)).toBeLessThanOrEqual(FEW);
    api.oddity = oddAt('token', () => same);
    await rig.settled();
    expect(api.stored).toHaveLength(30);
  });

  it.each<[string, OddAnswer]>([
    ['a clear refusal', { status: 401, body: { error: 'invalid_client' } }],
    ['500', { status: 500, body: '' }],
    ['HTML with 200', { status: 200, body: '<html>' }],
    ['dropped connections', { drop: true }],
  ])('the token endpoint gets a few calls a second, whatever it answers: %s', async (_, answer) => {
    await using api = await openOddApi(oddAt('token', () => answer));
    await using rig = await trouble(api, { delivery: { probe: { initial: 20, max: 20 } } });
    await until('a pause', () => rig.breaker.current()?.code.startsWith('token-'));
    await delay(2_000);
    expect(busiest(timesOf(api, 'token'), api)).toBeLessThanOrEqual(FEW);
    expect(api.calls.some(({ endpoint }) => endpoint === 'create')).toBe(false);
  });
});
