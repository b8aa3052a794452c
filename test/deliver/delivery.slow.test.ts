import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../src/config/secret.ts';
import { HOLD_KNOWN, holdField } from '../../src/deliver/breaker-view.ts';
import { keepDiscards } from '../../src/ledger/batches/kept-discards.ts';
import { aloneOf, withdraw } from '../../src/ledger/job.ts';
import { next } from '../../src/ledger/state-machine/next.ts';
import { resumeDelivery } from '../../src/operate/delivery/pause-delivery.ts';
import { digestOf } from '../../src/order/digest.ts';
import { fileWaitText } from '../../src/wording/file-wait.ts';
import { pauseText } from '../../src/wording/pause.ts';
import { numbersOf, openDeliveryRig } from '../support/delivery-rig.ts';
import { orderOf, policy } from '../support/entry.ts';
import { type OddAnswer, oddAt, openOddApi, storedNumbers } from '../support/odd-api.ts';
import { answered, byOperator, ROLLED } from '../support/pause.ts';
import { until } from '../support/until.ts';

/** Every number stored exactly once. */
function once(numbers: readonly string[]): Map<string, number> {
  return new Map(numbers.map((number) => [number, 1]));
}

function byNumber(stored: Map<string, number>): Map<string, number> {
  return new Map([...stored].sort(([a], [b]) => a.localeCompare(b)));
}

let stack: AsyncDisposableStack;
beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

describe('delivery', () => {
  it('never has more calls in flight than allowed', async () => {
    await using rig = await openDeliveryRig({
      delivery: { concurrency: 3 },
      faults: { faults: [{ kind: 'delay', by: '20ms' }] },
    });
    await rig.submit('b1', numbersOf(40));
    await rig.settled();
    let inFlight = 0;
    let most = 0;
    for (const event of rig.events) {
      if (event.type === 'received') most = Math.max(most, ++inFlight);
      if (event.type === 'answered' && event.on === 'create') inFlight -= 1;
    }
    expect(most).toBe(3);
  });

  it('sends the declared headers with orders and the list, not with token requests; an order whose number contains one is an order like any other', async () => {
    const sent: string[] = [];
    const partner = stack.use(
      await openOddApi(({ endpoint, headers, attempt, order }) => {
        sent.push(`${endpoint} ${String(headers['x-company'])}`);
        // Of the first two the answer is lost: the list has to show one and to lack the other.
        if (endpoint !== 'create' || attempt > 1) return undefined;
        return order?.purchaseOrderNumber === 'PO-0042'
          ? { drop: true, store: true }
          : { drop: true };
      }),
    );
    const sentHeaders = new Map([['X-Company', new Secret('0042')]]);
    const headers = { sent: sentHeaders, hidden: [...sentHeaders.values()] };
    await using rig = await openDeliveryRig({ partner, headers });
    await rig.submit('b1', ['PO-0042', 'PO-0043']);
    await rig.settled();
    expect(storedNumbers(partner).sort()).toEqual(['PO-0042', 'PO-0043']);
    expect(await rig.batches.find('b1')).toMatchObject({ counts: { accepted: 2 } });
    expect(new Set(sent)).toEqual(new Set(['token undefined', 'create 0042', 'list 0042']));
  });

  it('follows the declared statuses: one is final, another is tried again without doubt until the attempts are used up', async () => {
    const faults = [
      { kind: 'answer', status: 500, orders: ['PO-11'] },
      { kind: 'answer', status: 423, orders: ['PO-12'], attempts: '1-2' },
      { kind: 'answer', status: 423, orders: ['PO-13'] },
    ];
    await using rig = await openDeliveryRig({
      faults: { faults },
      delivery: { attempts: 4 },
      environment: { statuses: { refuse: [500], retry: [423] } },
    });
    await rig.submit('b1', ['PO-11', 'PO-12', 'PO-13', ...numbersOf(5)]);
    await rig.settled();
    expect(await rig.batches.find('b1')).toMatchObject({
      counts: { accepted: 6, refused: 1, failed: 1 },
    });
    const [refused, failed] = await rig.batches.results('b1', [0, 2]);
    expect(refused).toMatchObject({ outcome: 'refused', attempts: 1, httpStatus: 500 });
    expect(failed).toMatchObject({ outcome: 'failed', attempts: 4, httpStatus: 423 });
    expect(rig.events.filter((one) => one.type === 'answered' && one.on === 'list')).toEqual([]);
  });

  it('pauses while the API is away, logs it once, costs no order an attempt, and resumes', async () => {
    await using rig = await openDeliveryRig({
      delivery: { attempts: 1 },
      faults: { faults: [{ kind: 'outage', address: 'api', from: '0s', until: '5s' }] },
      sandbox: { authPort: 0 },
    });
    const numbers = numbersOf(30);
    await rig.submit('b1', numbers);
    await rig.settled();
    expect(byNumber(rig.stored())).toEqual(once(numbers));
    expect(await rig.batches.find('b1')).toMatchObject({ counts: { accepted: 30, failed: 0 } });
    const logged = rig.lines.map(({ msg }) => String(msg));
    expect(logged.filter((msg) => msg.startsWith('delivery paused'))).toHaveLength(1);
    expect(logged.filter((msg) => msg === 'delivery resumed')).toHaveLength(1);
    expect(await rig.breaker.during(0, rig.store.time.now())).toMatchObject([{ code: 'api-down' }]);
  });

  it.each([
    [403, 'http-403'],
    [404, 'http-404'],
    [307, 'http-307'],
  ])('pauses at HTTP %i instead of failing orders', async (status, code) => {
    await using rig = await openDeliveryRig({
      delivery: { attempts: 1 },
      faults: { faults: [{ kind: 'answer', status, until: '4s', body: 'html' }] },
    });
    await rig.submit('b1', numbersOf(20));
    await until('a pause', () => rig.breaker.current()?.code === code);
    await rig.settled();
    expect(await rig.batches.find('b1')).toMatchObject({ counts: { accepted: 20 } });
  });

  it.each([
    [403, 'http-403'],
    [500, 'api-down'],
  ])('names HTTP %i beside the words of the API where it pauses', async (status, code) => {
    await using rig = await openDeliveryRig({
      faults: { faults: [{ kind: 'answer', status, until: '4s', message: 'Not now, sorry.' }] },
    });
    await rig.submit('b1', numbersOf(20));
    await until('a pause', () => rig.breaker.current()?.code === code);
    const pause = rig.breaker.current();
    expect(pause && pauseText(pause)).toBe(`Not now, sorry (HTTP ${status})`);
  });

  it('pauses when the credentials are refused, without hammering the token endpoint', async () => {
    await using rig = await openDeliveryRig({ secret: 'wrong' });
    await rig.submit('b1', numbersOf(20));
    await until('a pause', () => rig.breaker.current()?.code === 'token-refused');
    expect(rig.stored().size).toBe(0);
    expect(rig.events.filter(({ type }) => type === 'token').length).toBeLessThan(12);
    expect(await rig.ledger.unsettled()).toBe(20);
  });

  it.each<[string, OddAnswer, string]>([
    ['an unknown scope', { status: 400, body: { error: 'invalid_scope' } }, 'scope, audience'],
    ['no token in a success', { status: 200, body: {} }, 'Check authUrl and token.path'],
    ['an outage', { status: 500 }, 'HTTP 500'],
  ])('says of a token endpoint that answers with %s what it met', async (_, answer, words) => {
    await using odd = await openOddApi(oddAt('token', () => answer));
    await using rig = await openDeliveryRig({ partner: odd });
    await rig.submit('b1', numbersOf(1));
    expect(pauseText(await until('a pause', () => rig.breaker.current()))).toContain(words);
  });

  it('replaces a token that the API never accepted when a person resumes', async () => {
    await using odd = await openOddApi();
    odd.revoked.add('token-1');
    await using rig = await openDeliveryRig({ partner: odd });
    await rig.submit('b1', numbersOf(5));
    await until('a pause', () => rig.breaker.current()?.code === 'token-not-accepted');
    expect(odd.calls.filter(({ endpoint }) => endpoint === 'token')).toHaveLength(1);
    await resumeDelivery({ ...rig, ...rig.context });
    await rig.settled();
    expect(odd.calls.filter(({ endpoint }) => endpoint === 'token')).toHaveLength(2);
  });

  it('requests no token while the endpoint asks to wait, and one when a person resumes', async () => {
    const busy = { status: 429, headers: { 'retry-after': '600' } };
    await using odd = await openOddApi(oddAt('token', ({ nth }) => (nth <= 2 ? busy : undefined)));
    await using rig = await openDeliveryRig({ partner: odd });
    await rig.submit('b1', numbersOf(5));
    const pause = await until('a pause', () => rig.breaker.current());
    const { code, nextTryAt = 0 } = pause;
    expect(code).toBe('token-unavailable');
    expect(pauseText(pause)).toMatch(/HTTP 429.*; it asks to wait 600 s$/);
    expect(nextTryAt - rig.store.time.now()).toBeGreaterThan(550_000);
    // A daemon that starts meanwhile asks for nothing, and what it reports is the wait that is left.
    expect(await rig.partner.tokens.first()).toBe(false);
    await rig.breaker.lift();
    await until('another try', () => (rig.breaker.current()?.nextTryAt ?? 0) > nextTryAt - 1_000);
    expect(odd.calls.map(({ endpoint }) => endpoint)).toEqual(['token', 'token']);
    await resumeDelivery({ ...rig, ...rig.context });
    await rig.settled();
    expect(odd.stored).toHaveLength(5);
  });

  it('writes no order after a pause, not even one with an intent, and gives the intents back', async () => {
    await using rig = await openDeliveryRig({
      faults: { faults: [{ kind: 'delay', by: '600ms' }] },
    });
    const received = () => rig.events.filter(({ type }) => type === 'received').length;
    const sending = async () => {
      const known = await rig.ledger.lookup(numbersOf(60));
      return known.filter((one) => one.kind === 'open' && one.entry.state === 'sending').length;
    };
    await rig.submit('b1', numbersOf(60));
    await until(
      'intents ahead of the calls',
      async () => received() >= 16 && (await sending()) === 10,
    );
    // As a command in another process sets it.
    const hold = { ...byOperator('mia'), since: rig.store.time.now() };
    await rig.store.redis.hset(rig.store.keys.breaker, holdField('operator'), JSON.stringify(hold));
    await setTimeout(2 * HOLD_KNOWN);
    const before = received();
    await until('the end of the calls and of the intents', async () => (await sending()) === 0);
    expect(received()).toBe(before);
    expect(rig.stored().size).toBe(before);
    await rig.store.redis.hdel(rig.store.keys.breaker, holdField('operator'));
    await rig.settled();
    expect(byNumber(rig.stored())).toEqual(once(numbersOf(60)));
    const known = await rig.ledger.lookup(numbersOf(60));
    expect(known.map((one) => one.kind === 'accepted' && one.compact.attempts)).toEqual(
      Array(60).fill(1),
    );
  });

  it('begins no call while Redis was lost just before, and all of them later', async () => {
    let isSteady = false;
    let asked = 0;
    await using rig = await openDeliveryRig({
      isSteady: () => {
        asked += 1;
        return isSteady;
      },
    });
    await rig.submit('b1', numbersOf(20));
    await until('several looks', () => asked > 60);
    expect(rig.events).toEqual([]);
    isSteady = true;
    await rig.settled();
    expect(byNumber(rig.stored())).toEqual(once(numbersOf(20)));
  });

  it('does not send an order of a canceled batch again: the list decides, or the answer that turned it away', async () => {
    const faults = [
      { kind: 'drop', when: 'before', orders: ['PO-0002'] },
      { kind: 'drop', when: 'after', orders: ['PO-0003'] },
      { kind: 'answer', status: 403, orders: ['PO-0004'] },
    ];
    await using rig = await openDeliveryRig({ faults: { faults }, delivery: { settle: 1_000 } });
    // An order that was accepted before shows that the list is complete.
    await rig.submit('b0', ['OLD']);
    await rig.settled();
    await rig.submit('b1', numbersOf(4));
    const states = async () =>
      (await rig.ledger.lookup(numbersOf(4))).map((one) => one.kind === 'open' && one.entry.state);
    await until(
      'three without an outcome',
      async () => String(await states()) === 'false,unknown,unknown,retry',
    );
    await rig.batches.cancel('b1', { at: rig.store.time.now(), who: 'anna' });
    const calls = () => rig.events.filter(({ type }) => type === 'received').length;
    const before = calls();
    const cancelled = rig.store.time.now();
    // An order that is created a settle later shows that the list is complete there.
    await until('a settle', () => rig.store.time.now() - cancelled > 1_000);
    await rig.submit('b2', ['NEW']);
    await rig.settled();
    expect(await rig.batches.find('b1')).toMatchObject({
      open: 0,
      counts: { accepted: 2, cancelled: 2 },
    });
    expect(rig.stored()).toEqual(
      new Map([
        ['OLD', 1],
        ['PO-0001', 1],
        ['PO-0003', 1],
        ['NEW', 1],
      ]),
    );
    // One turned away may have been on its way.
    expect(calls() - before).toBeLessThan(3);
    const [result] = await rig.batches.results('b1', [1]);
    expect(result).toMatchObject({
      outcome: 'cancelled',
      attempts: 1,
      facts: { isDoubted: true },
    });
    expect(await rig.ledger.operatorActions('PO-0002')).toMatchObject([
      { who: 'anna', what: 'cancelled' },
    ]);
  });

  it('does not send the order that all others wait for again once its batch is canceled', async () => {
    let creates = 0;
    const partner = stack.use(
      await openOddApi(({ endpoint }) => {
        if (endpoint !== 'create') return undefined;
        creates += 1;
        return creates === 1 ? { status: 503, after: 500 } : undefined;
      }),
    );
    await using rig = await openDeliveryRig({ partner });
    const { redis, keys, time } = rig.store;
    await redis.hset(keys.listProof, { proof: 'due' });
    await rig.submit('b1', ['PO-0001']);
    await until('the call', () => creates === 1);
    await until('the turn', async () => {
      await rig.breaker.refresh();
      return rig.breaker.turn() === 'PO-0001';
    });
    await rig.batches.cancel('b1', { at: time.now(), who: 'anna' });
    await rig.settled();
    expect([creates, partner.stored]).toEqual([1, []]);
    expect(await rig.batches.find('b1')).toMatchObject({ counts: { cancelled: 1 } });
  });

  it('sends no order of a batch that was canceled while it waited for the end of a pause', async () => {
    await using rig = await openDeliveryRig({ faults: { faults: [] } });
    await rig.breaker.hold(ROLLED);
    await rig.submit('b1', numbersOf(60));
    await until('orders in hand', async () => (await rig.queue.waiting()) === 0);
    // As while the list is read: nothing is withdrawn then.
    const by = { at: rig.store.time.now(), who: 'anna' };
    await rig.batches.cancel('b1', by);
    await setTimeout(1_000);
    await rig.breaker.release('ledger-rolled-back');
    await rig.settled();
    expect(rig.stored().size).toBe(0);
    expect(await rig.batches.find('b1')).toMatchObject({ counts: { accepted: 0, cancelled: 60 } });
    // The history has the time at which the person decided, and the result that of the withdrawal.
    expect(await rig.ledger.operatorActions('PO-0001')).toEqual([{ ...by, what: 'cancelled' }]);
    const [result] = await rig.batches.results('b1', [0]);
    expect((result?.at ?? 0) - by.at).toBeGreaterThan(900);
  });

  it('withdraws no order of a canceled batch before the list was read that the ledger waits for', async () => {
    await using rig = await openDeliveryRig({ faults: { faults: [] } });
    const { redis, keys, time } = rig.store;
    await rig.breaker.hold(ROLLED);
    await rig.submit('b1', numbersOf(3));
    await until('orders in hand', async () => (await rig.queue.waiting()) === 0);
    await redis.hset(keys.rebuild, { why: 'rolled-back', epoch: 'e', notBefore: 0 });
    await rig.batches.cancel('b1', { at: time.now(), who: 'anna' });
    // As after a daemon was started again.
    for (const one of await rig.ledger.lookup(numbersOf(3))) {
      if (one.kind !== 'open') continue;
      const step = next(
        one.entry,
        { kind: 'requeue', at: time.now(), job: rig.queue.nameJob() },
        policy,
      );
      if (step.kind !== 'move' || !(await rig.ledger.take(one.entry, step)))
        throw new Error('not moved');
      await rig.queue.add([aloneOf(step.entry)]);
    }
    await until('orders in hand again', async () => (await rig.queue.waiting()) === 0);
    await setTimeout(1_000);
    expect(await rig.ledger.unsettled()).toBe(3);
    await redis.del(keys.rebuild);
    await rig.breaker.release('ledger-rolled-back');
    await rig.settled();
    expect(rig.stored().size).toBe(0);
    expect(await rig.batches.find('b1')).toMatchObject({ counts: { accepted: 0, cancelled: 3 } });
  });

  it('sends other orders while those of a canceled batch still wait for their turn under the rate limit', async () => {
    await using rig = await openDeliveryRig({
      environment: { rateLimit: { max: 10, per: 1_000 } },
    });
    await rig.submit('b1', numbersOf(60));
    await until('some calls', () => rig.stored().size > 2);
    await rig.batches.cancel('b1', { at: rig.store.time.now(), who: 'anna' });
    // As the command does: those in hand do not know it.
    for (const one of await rig.ledger.lookup(numbersOf(60))) {
      if (one.kind !== 'open') continue;
      const action = { at: rig.store.time.now(), who: 'anna', what: 'cancelled' } as const;
      await withdraw(one.entry, action, {
        ledger: rig.ledger,
        queue: rig.queue,
        policy,
        at: action.at,
      });
    }
    await rig.submit('b2', ['OTHER-1', 'OTHER-2']);
    await until(
      'the other orders',
      () => rig.stored().has('OTHER-1') && rig.stored().has('OTHER-2'),
    );
    await rig.settled();
    expect(await rig.queue.waiting()).toBe(0);
  });

  it.each([
    ['is in progress', false],
    ['is settled', true],
  ])(
    'sends an order of a canceled batch again that had an outcome, when a person wants that and it %s',
    async (_, isDone) => {
      const faults = [
        { kind: 'answer', status: 400, message: 'no', orders: ['PO-0001'], calls: 1 },
      ];
      await using rig = await openDeliveryRig({ faults: { faults } });
      await rig.submit('b1', numbersOf(2));
      await rig.settled();
      await rig.batches.cancel('b1', { at: rig.store.time.now(), who: 'anna' });
      if (isDone) await rig.batches.done('b1');
      const [refused] = await rig.ledger.lookup(['PO-0001']);
      if (refused?.kind !== 'open') throw new Error('not refused');
      const job = rig.queue.nameJob();
      const step = next(
        refused.entry,
        { kind: 'retry', at: rig.store.time.now(), job, delay: 0 },
        policy,
      );
      expect(await rig.ledger.take(refused.entry, step)).toBe(true);
      await rig.queue.add([{ id: job, name: 'again', batch: 'b1', numbers: ['PO-0001'] }]);
      await until('the order', () => rig.stored().size === 2);
      await rig.settled();
      expect(await rig.ledger.lookup(['PO-0001'])).toMatchObject([{ kind: 'accepted' }]);
    },
  );

  describe('of orders that a person discarded before Redis lost that', () => {
    const noted = (number: string, at: number) => [
      { was: { number, content: digestOf(orderOf(number)) }, at, who: 'anna' },
    ];

    it('withdraws none of another file, also when the queue hands out a job of the first file again', async () => {
      await using rig = await openDeliveryRig({ faults: { faults: [] } });
      await rig.breaker.hold(answered('operator-pause', 'test'));
      await rig.submit('b1', ['PO-0002']);
      await rig.submit('b2', ['PO-0001']);
      await keepDiscards('b1', noted('PO-0001', rig.store.time.now()), rig.store);
      await rig.queue.add([
        { id: rig.queue.nameJob(), name: 'stalled', batch: 'b1', numbers: ['PO-0001'] },
      ]);
      await until('orders in hand', async () => (await rig.queue.waiting()) === 0);
      await setTimeout(500);
      await rig.breaker.release('operator-pause');
      await rig.settled();
      expect(byNumber(rig.stored())).toEqual(once(['PO-0001', 'PO-0002']));
    });

    it('sends one that a person wanted sent since', async () => {
      const faults = [
        { kind: 'answer', status: 400, message: 'no', orders: ['PO-0001'], calls: 1 },
      ];
      await using rig = await openDeliveryRig({ faults: { faults } });
      await rig.submit('b1', ['PO-0001']);
      await rig.settled();
      await keepDiscards('b1', noted('PO-0001', rig.store.time.now()), rig.store);
      const [refused] = await rig.ledger.lookup(['PO-0001']);
      if (refused?.kind !== 'open') throw new Error('not refused');
      const [job, at] = [rig.queue.nameJob(), rig.store.time.now() + 1];
      const step = next(refused.entry, { kind: 'retry', at, job, delay: 0 }, policy);
      await rig.ledger.take(refused.entry, step, { at, who: 'bert', what: 'retried' });
      await rig.queue.add([{ id: job, name: 'again', batch: 'b1', numbers: ['PO-0001'] }]);
      await rig.settled();
      expect(rig.stored()).toEqual(once(['PO-0001']));
    });

    it('sends none that waited for the end of a pause when that became known', async () => {
      await using rig = await openDeliveryRig({ faults: { faults: [] } });
      await rig.breaker.hold(ROLLED);
      await rig.submit('b1', numbersOf(3));
      await until('orders in hand', async () => (await rig.queue.waiting()) === 0);
      await keepDiscards('b1', noted('PO-0002', rig.store.time.now()), rig.store);
      await setTimeout(1_500);
      await rig.breaker.release('ledger-rolled-back');
      await rig.settled();
      expect(byNumber(rig.stored())).toEqual(once(['PO-0001', 'PO-0003']));
      expect(await rig.ledger.operatorActions('PO-0002')).toMatchObject([
        { who: 'anna', what: 'discarded' },
      ]);
    });

    it('withdraws one of which only the number is known', async () => {
      await using rig = await openDeliveryRig({ faults: { faults: [] } });
      const [known] = noted('PO-0001', rig.store.time.now());
      if (known)
        await keepDiscards(
          'b1',
          [{ ...known, was: { number: 'PO-0001', content: '' } }],
          rig.store,
        );
      await rig.submit('b1', numbersOf(2));
      await rig.settled();
      expect(rig.stored()).toEqual(once(['PO-0002']));
      const line = { order: 'PO-0001', who: 'anna', what: 'discarded' };
      expect(rig.lines.filter(({ event }) => event === 'order-withdrawn')).toMatchObject([line]);
    });
  });

  it('holds a batch whose orders are refused alike, and nothing else, until it is released', async () => {
    const refuse = {
      kind: 'answer',
      status: 400,
      message: 'articleCode is invalid',
      orders: ['WRONG-*'],
      calls: '1-20',
    };
    await using rig = await openDeliveryRig({
      delivery: { concurrency: 4, refusalHold: { share: 0.5, of: 10 } },
      faults: { faults: [refuse] },
    });
    const wrong = numbersOf(200).map((number) => `WRONG-${number}`);
    await rig.submit('b1', wrong);
    await until('the hold', async () => (await rig.batches.held()).includes('b1'));
    // They take no room in the queue, also those that were about to be sent.
    const areParked = async () => (await rig.ledger.unparked()) === 0;
    await until('all to be parked', areParked);
    await rig.submit('b2', numbersOf(20));
    await until('the other batch', async () => (await rig.batches.finished()).includes('b2'));
    const held = await rig.batches.find('b1');
    expect(held).toMatchObject({
      held: {
        code: 'refusals',
        facts: { says: expect.stringContaining('articleCode is invalid') },
      },
    });
    expect(held?.counts.refused).toBeLessThan(16);
    expect(await rig.ledger.unsettled()).toBe(200 - (held?.counts.refused ?? 0));
    await rig.batches.release('b1');
    await until('the release', () => !rig.held.has('b1'));
    for (const number of wrong) await rig.ledger.postpone(number, rig.store.time.now());
    await rig.settled();
    const { counts } = (await rig.batches.find('b1')) ?? {};
    expect((counts?.accepted ?? 0) + (counts?.refused ?? 0)).toBe(200);
    expect(counts?.accepted).toBeGreaterThan(100);
  });

  it('a release by a person lifts the hold for the refusals that were known; others hold the batch again and say so', async () => {
    const refuse = (message: string, calls: string) => ({
      kind: 'answer',
      status: 400,
      message,
      orders: ['WRONG-*'],
      calls,
    });
    await using rig = await openDeliveryRig({
      delivery: { concurrency: 4, refusalHold: { share: 0.5, of: 10 } },
      faults: {
        faults: [
          refuse('article A-7 is unknown', '1-60'),
          refuse('the customer is blocked', '61-200'),
        ],
      },
    });
    const wrong = numbersOf(200).map((number) => `WRONG-${number}`);
    await rig.submit('b1', wrong);
    const refused = async () => (await rig.batches.find('b1'))?.counts.refused ?? 0;
    const held = () => until('the hold', async () => (await rig.batches.find('b1'))?.held);
    async function release(at: number): Promise<void> {
      await rig.batches.release('b1', { at, who: 'anna' });
      await until('the release', () => !rig.held.has('b1'));
      for (const number of wrong) await rig.ledger.postpone(number, rig.store.time.now());
    }
    expect(fileWaitText(await held())).toMatch(/is unknown$/);
    expect(await refused()).toBeLessThan(16);
    await release(Date.UTC(2026, 10, 23, 2, 36, 22));
    // 44 more refusals like those before do not hold it again, five of another kind do.
    expect(fileWaitText(await held())).toMatch(
      /^1?\d of the last .* refusal: .*customer is blocked \(after the release by anna at 2026-11-23 .*:36:22.*\)$/,
    );
    expect(await refused()).toBeGreaterThan(60);
    await release(rig.store.time.now());
    await rig.settled();
    expect(await refused()).toBe(200);
    expect(rig.lines.filter(({ event }) => event === 'batch-held')).toHaveLength(2);
  });

  it('hands out orders again that the queue lost', async () => {
    await using rig = await openDeliveryRig();
    const { keys, redis, time } = rig.store;
    await rig.breaker.trip(answered('test', 'held by the test'));
    await rig.submit('b1', numbersOf(30));
    const jobs = await redis.keys(`${keys.prefix}:orders:c-*`);
    await redis.del(`${keys.prefix}:orders:wait`, ...jobs);
    for (const number of numbersOf(30)) await rig.ledger.postpone(number, time.now());
    await rig.breaker.reset();
    await rig.settled();
    expect(byNumber(rig.stored())).toEqual(once(numbersOf(30)));
  });
});
