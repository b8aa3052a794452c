import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type DeliveryRig, numbersOf, openDeliveryRig } from '../support/delivery-rig.ts';
import { created, granted, type OddAnswer, type OddApi, openOddApi, refusal } from '../support/odd-api.ts';
import { until } from '../support/until.ts';

/** Calls a second to any endpoint while nothing succeeds. */
const FEW = 5;
/** What is in flight when the trouble begins, and one renewal. */
const START = 1_000;

/** Waits of the probe as long as a rate can be measured. */
const SLOW = { probe: { initial: 400, max: 2_000 } };

async function trouble(api: OddApi, more: Parameters<typeof openDeliveryRig>[0] = {}): Promise<DeliveryRig> {
  const rig = await openDeliveryRig({ partner: api, delivery: SLOW, ...more });
  await rig.submit('b1', numbersOf(30));
  return rig;
}

describe.concurrent('while nothing succeeds', () => {
  it.each<[string, OddAnswer]>([
    ['401', { status: 401, body: refusal(401) }],
    ['403', { status: 403, body: '<html>' }],
    ['404', { status: 404 }],
    ['405', { status: 405, body: refusal(405) }],
    ['a redirect', { status: 302, headers: { location: '/login' } }],
    ['429', { status: 429, body: refusal(429) }],
    ['429 with Retry-After: 0', { status: 429, headers: { 'retry-after': '0' } }],
    ['429 with a date in the past', { status: 429, headers: { 'retry-after': 'Sat, 01 Jan 2022 00:00:00 GMT' } }],
    ['503 with Retry-After: 0', { status: 503, body: refusal(503), headers: { 'retry-after': '0' } }],
    ['500', { status: 500, body: '<html>' }],
    ['a login page with 200', { status: 200, body: '<html>' }],
    ['dropped connections', 'drop'],
  ])('the API gets a few calls a second, whatever it answers: %s', async (_, answer) => {
    await using api = await openOddApi({ create: () => answer, list: () => ({ status: 500 }) });
    await using rig = await trouble(api);
    await until('a pause', () => rig.breaker.current());
    await delay(START + 1_500);
    for (const endpoint of ['create', 'token'] as const) {
      expect(api.busiestSecond(endpoint, START)).toBeLessThanOrEqual(FEW);
    }
    expect(rig.breaker.current()).toMatchObject({ held: false, nextTryAt: expect.any(Number) });
    expect(await rig.ledger.unsettled()).toBe(30);
  });

  it('the token endpoint that gives the same token again after a 401 is asked a few times a second', async () => {
    await using api = await openOddApi({
      token: () => granted('the-same'),
      create: () => ({ status: 401, body: refusal(401) }),
    });
    await using rig = await trouble(api);
    await until('a pause', () => rig.breaker.current()?.code === 'token-not-accepted');
    await delay(START + 1_000);
    expect(api.busiestSecond('token', START)).toBeLessThanOrEqual(FEW);
    expect(api.busiestSecond('create', START)).toBeLessThanOrEqual(FEW);
    api.habits.create = ({ number }) => created(number);
    await rig.settled();
    expect(api.stored).toHaveLength(30);
  });

  it.each<[string, OddAnswer]>([
    ['a clear refusal', { status: 401, body: { error: 'invalid_client' } }],
    ['500', { status: 500 }],
    ['HTML with 200', { status: 200, body: '<html>' }],
    ['dropped connections', 'drop'],
  ])('the token endpoint gets a few calls a second, whatever it answers: %s', async (_, answer) => {
    await using api = await openOddApi({ token: () => answer });
    await using rig = await trouble(api, { delivery: { probe: { initial: 20, max: 20 } } });
    await until('a pause', () => rig.breaker.current()?.code.startsWith('token-'));
    await delay(2_000);
    expect(api.busiestSecond('token')).toBeLessThanOrEqual(FEW);
    expect(api.calls.some(({ endpoint }) => endpoint === 'create')).toBe(false);
  });
});
