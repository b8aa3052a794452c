import dns from 'node:dns';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { OPERATOR } from '../../src/deliver/circuit-breaker.ts';
import { numbersOf, openDeliveryRig } from '../support/delivery-rig.ts';
import { created, envelope, listed, oddAt, openOddApi, storedNumbers } from '../support/odd-api.ts';
import { until } from '../support/until.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('an answer about one order', () => {
  it('that names the number in another spelling leaves it to a person, sent once', async () => {
    await using api = await openOddApi(({ endpoint, order }) => {
      if (endpoint === 'list') return { body: listed([]) };
      return order && { body: created(order.purchaseOrderNumber.toLowerCase()) };
    });
    await using rig = await openDeliveryRig({ partner: api });
    await rig.submit('b1', numbersOf(10));
    await rig.settled();
    expect(await rig.batches.find('b1')).toMatchObject({ counts: { inDoubt: 10 }, open: 10 });
    expect(api.stored).toHaveLength(10);
    const [result] = await rig.batches.results('b1', [0]);
    expect(result?.message).toBe('the API answered that it created "po-0001", not "PO-0001"');
  });

  it('with HTTP 400 and another code refuses it, sent once', async () => {
    await using api = await openOddApi(
      oddAt('create', () => ({ status: 400, body: envelope(1001, 'unknown article') })),
    );
    await using rig = await openDeliveryRig({ partner: api });
    await rig.submit('b1', numbersOf(3));
    await rig.settled();
    expect(await rig.batches.find('b1')).toMatchObject({ counts: { refused: 3 } });
    expect(api.calls.filter(({ endpoint }) => endpoint === 'create')).toHaveLength(3);
  });

  it.each([403, 404, 401])(
    'with HTTP %i on every attempt makes it a dead letter with its words; the others pass',
    async (status) => {
      const blocked = { status, body: envelope(status, 'blocked by rule 9') };
      await using api = await openOddApi(({ order }) =>
        order?.purchaseOrderNumber === 'PO-0007' ? blocked : undefined,
      );
      await using rig = await openDeliveryRig({ partner: api, delivery: { concurrency: 2 } });
      // The others come little by little, as on a working day.
      await rig.submit('b1', numbersOf(12));
      for (let i = 0; i < 60 && (await rig.ledger.unsettled()) > 0; i += 1) {
        await rig.submit(`more-${i}`, [`MORE-${i}`]);
        await delay(100);
      }
      await rig.settled();
      expect(await rig.batches.find('b1')).toMatchObject({ counts: { accepted: 11, refused: 1 } });
      const [result] = await rig.batches.results('b1', [6]);
      expect(result).toMatchObject({
        outcome: 'refused',
        message: 'blocked by rule 9',
        httpStatus: status,
      });
      expect(api.calls.filter(({ order }) => order === 'PO-0007').length).toBeLessThanOrEqual(8);
    },
  );

  it('that is turned away does not win every probe', async () => {
    const openAt = performance.now() + 1_500;
    const away = { status: 403, body: '<html>' };
    await using api = await openOddApi(
      oddAt('create', ({ order }) =>
        order?.purchaseOrderNumber === 'PO-0001' || performance.now() < openAt ? away : undefined,
      ),
    );
    await using rig = await openDeliveryRig({ partner: api, delivery: { concurrency: 1 } });
    await rig.submit('b1', numbersOf(8));
    await until('the others', () => api.stored.length === 7);
  });
});

describe('a success answer without a body', () => {
  it('counts as success once the list shows that the orders were created', async () => {
    await using api = await openOddApi(oddAt('create', () => ({ body: '' })));
    await using rig = await openDeliveryRig({ partner: api });
    const numbers = numbersOf(60);
    await rig.submit('b1', numbers);
    await rig.settled();
    expect(storedNumbers(api).sort()).toEqual(numbers);
    expect(await rig.batches.find('b1')).toMatchObject({ counts: { accepted: 60 } });
    expect(rig.breaker.answersAreClear()).toBe(true);
    const pauses = await rig.breaker.during(0, rig.store.time.now());
    // Delivery opens one call after the other, so the list may show what the answers mean before there is a pause.
    expect(['', 'answers-unclear']).toContain(pauses.map(({ code }) => code).join(' '));
  });
});

describe('a pause', () => {
  it('that the API asks for is visible with its reason, and a person can end it', async () => {
    const wait = { status: 429, headers: { 'retry-after': '3000' } };
    await using api = await openOddApi(
      oddAt('create', ({ nth }) => (nth === 1 ? wait : undefined)),
    );
    await using rig = await openDeliveryRig({ partner: api, delivery: { concurrency: 1 } });
    await rig.submit('b1', numbersOf(5));
    const pause = await until('the pause', () => rig.breaker.current());
    expect(pause).toMatchObject({
      code: 'http-429',
      reason: expect.stringContaining('asks to wait 3000 s'),
    });
    expect((pause.nextTryAt ?? 0) - pause.since).toBe(3_000_000);
    await delay(300);
    expect(api.stored).toEqual([]);
    expect(await rig.breaker.lift()).toBe(true);
    await rig.settled();
    expect(api.stored).toHaveLength(5);
  });

  it.each([
    ['under a rate limit', { rateLimit: { max: 20, per: 1000 } }],
    ['at full speed', {}],
  ])('of an operator lets nothing more out, %s', async (_, environment) => {
    await using api = await openOddApi();
    await using rig = await openDeliveryRig({ partner: api, environment });
    await rig.submit('b1', numbersOf(200));
    await until('some orders', () => api.stored.length > 2);
    // As another process pauses: this daemon learns of it from Redis only.
    const hold = JSON.stringify({
      code: OPERATOR,
      reason: 'paused by the test',
      since: rig.store.time.now(),
    });
    await rig.store.redis.hset(rig.store.keys.breaker, `hold:${OPERATOR}`, hold);
    // What has its intent by now is under way or settled.
    const known = await rig.ledger.lookup(numbersOf(200));
    const waiting = known.flatMap((one) =>
      one.kind === 'open' && one.entry.state === 'queued'
        ? one.entry.order.purchaseOrderNumber
        : [],
    );
    expect(waiting.length).toBeGreaterThan(0);
    await delay(700);
    expect(storedNumbers(api).filter((number) => waiting.includes(number))).toEqual([]);
    expect(await rig.ledger.unsettled()).toBeGreaterThan(0);
    await rig.breaker.release(OPERATOR);
    await rig.settled();
    expect(api.stored).toHaveLength(200);
  });
});

describe('a name server slower than an intent may be old', () => {
  it('delays the first calls, and no order needs a second attempt', async () => {
    const { lookup } = dns;
    const slow = (...args: Parameters<typeof lookup>): void => {
      const isPartner = String(args[0]) === 'localhost';
      setTimeout(() => lookup(...args), isPartner ? 2_500 : 0);
    };
    vi.spyOn(dns, 'lookup').mockImplementation(slow as unknown as typeof lookup);
    await using api = await openOddApi();
    const partner = {
      authUrl: api.authUrl,
      baseUrl: api.baseUrl.replace('127.0.0.1', 'localhost'),
    };
    await using rig = await openDeliveryRig({ partner });
    await rig.submit('b1', numbersOf(20));
    await rig.settled();
    expect(storedNumbers(api).sort()).toEqual(numbersOf(20));
    expect(vi.mocked(dns.lookup).mock.calls.some(([host]) => String(host) === 'localhost')).toBe(
      true,
    );
    expect(rig.lines.filter(({ outcome }) => outcome === 'unsent')).toEqual([]);
  });
});

describe('the clock of the host', () => {
  it('delays no retry when it is set back', async () => {
    const before = Date.now;
    await using api = await openOddApi(
      oddAt('create', ({ nth }) => {
        if (nth > 3) return undefined;
        vi.spyOn(Date, 'now').mockImplementation(() => before() - 3_600_000);
        return { status: 503 };
      }),
    );
    await using rig = await openDeliveryRig({ partner: api });
    await rig.submit('b1', numbersOf(3));
    await rig.settled();
    expect(api.stored).toHaveLength(3);
  });
});
