import { describe, expect, it } from 'vitest';
import { aloneOf } from '../../src/ledger/job.ts';
import { next } from '../../src/ledger/state-machine/next.ts';
import { type DeliveryRig, numbersOf, openDeliveryRig } from '../support/delivery-rig.ts';
import { policy } from '../support/entry.ts';
import {
  envelope,
  type OddAnswer,
  type OddCall,
  openOddApi,
  storedNumbers,
} from '../support/odd-api.ts';
import { until } from '../support/until.ts';

/** A wait that no test outlasts. */
const DAY = 86_400_000;

/** No list settles anything in time. */
const LATE = { settle: 600_000 };

/** An API that creates nothing twice under the same key, and gives some answers of a test. */
async function openKeyedApi(answer: (call: OddCall) => OddAnswer | undefined = () => undefined) {
  const created = new Set<string>();
  const keys = new Map<string, string[]>();
  const api = await openOddApi((call) => {
    if (call.endpoint !== 'create' || call.order === undefined) return undefined;
    const key = String(call.headers['idempotency-key']);
    const { purchaseOrderNumber: number } = call.order;
    keys.set(number, [...(keys.get(number) ?? []), key]);
    const odd = answer(call);
    const isNew = !created.has(key);
    const stores = isNew && (odd?.store ?? odd?.status === undefined);
    if (stores) created.add(key);
    return { ...odd, store: stores };
  });
  return {
    api,
    keysOf: (number: string) => keys.get(number) ?? [],
    [Symbol.asyncDispose]: api[Symbol.asyncDispose],
  };
}

type KeyedApi = Awaited<ReturnType<typeof openKeyedApi>>;

function openKeyedRig({ api }: KeyedApi, delivery: object = LATE, valid = DAY, isNew = false) {
  const idempotencyKey = { header: 'Idempotency-Key', valid };
  return openDeliveryRig({ partner: api, delivery, isNew, environment: { idempotencyKey } });
}

/** The order as the ledger has it. */
async function entryIn({ ledger }: DeliveryRig, number: string) {
  const [known] = await ledger.lookup([number]);
  if (known?.kind !== 'open') throw new Error(`${number} is settled`);
  return known.entry;
}

describe('an idempotency key', () => {
  it('settles a lost answer at once, without the list: the same key for all attempts of an order, another one for each order', async () => {
    await using keyed = await openKeyedApi(({ attempt, nth }) => {
      if (attempt === 1) return { drop: true, store: nth % 2 === 0 };
      return attempt === 2 && nth % 3 === 0 ? { status: 500, store: false } : undefined;
    });
    await using rig = await openKeyedRig(keyed);
    const numbers = numbersOf(6);
    await rig.submit('b1', numbers);
    await rig.settled();
    expect(storedNumbers(keyed.api).sort()).toEqual(numbers);
    expect(await rig.batches.find('b1')).toMatchObject({ counts: { accepted: 6 } });
    const used = numbers.map((number) => [...new Set(keyed.keysOf(number))]);
    expect(used.map((keys) => keys.length)).toEqual(numbers.map(() => 1));
    expect(new Set(used.flat()).size).toBe(6);
    expect(keyed.api.calls.filter(({ endpoint }) => endpoint === 'list')).toEqual([]);
  });

  it('settles the first order of a new ledger, too, which the list must show all the same before others are sent', async () => {
    await using keyed = await openKeyedApi(({ attempt }) =>
      attempt === 1 ? { drop: true, store: true } : undefined,
    );
    const { api } = keyed;
    const { oddity } = api;
    const empty = { status: 'success', data: [], error: null };
    api.oddity = (call, place) =>
      call.endpoint === 'list' ? { status: 200, body: empty } : oddity(call, place);
    await using rig = await openKeyedRig(keyed, {}, DAY, true);
    const { redis, keys } = rig.store;
    expect(await rig.reconciliation.rebuild.tick()).toBe('done');
    await rig.submit('b1', numbersOf(3));
    const hold = async () => (await redis.hget(keys.breaker, 'hold:list')) ?? '';
    await until('the wait for the list', async () => (await hold()).includes('list-incomplete'));
    const [first = ''] = storedNumbers(api);
    await until('the second call', async () => keyed.keysOf(first).length === 2);
    expect(storedNumbers(api)).toEqual([first]);
    api.oddity = oddity;
    await rig.settled();
    expect(storedNumbers(api).sort()).toEqual(numbersOf(3));
  });

  it('that the API may have forgotten leaves the doubt to the list', async () => {
    await using keyed = await openKeyedApi(() => ({ drop: true, store: true }));
    await using rig = await openKeyedRig(keyed, {}, 5_000);
    await rig.submit('b1', ['PO-1']);
    await rig.settled();
    expect(keyed.keysOf('PO-1')).toHaveLength(1);
    expect(await rig.batches.find('b1')).toMatchObject({ counts: { accepted: 1 } });
  });

  it('that grows too old while its order waits leaves the doubt to the list', async () => {
    await using keyed = await openKeyedApi(() => ({ drop: true, store: true }));
    await using rig = await openKeyedRig(keyed, { backoff: { initial: DAY, max: DAY } });
    await rig.submit('b1', ['PO-1']);
    const isDoubted = async () => (await entryIn(rig, 'PO-1')).repeats;
    await until('the doubt', isDoubted);
    const { redis, keys, time } = rig.store;
    const entry = await entryIn(rig, 'PO-1');
    const old = { ...entry, keyed: { header: 'Idempotency-Key', at: time.now() - DAY } };
    await redis.set(keys.open('PO-1'), `${old.version}:${JSON.stringify(old)}`);
    await redis.zadd(keys.due, time.now(), 'PO-1');
    await rig.settled();
    expect(keyed.keysOf('PO-1')).toHaveLength(1);
    expect(await rig.batches.find('b1')).toMatchObject({ counts: { accepted: 1 } });
  });

  it('is another one when a person sends a refused order again, which the API would refuse with the former key', async () => {
    const refused = new Set<string>();
    await using keyed = await openKeyedApi(({ attempt, headers }) => {
      const key = String(headers['idempotency-key']);
      if (attempt === 1) refused.add(key);
      return refused.has(key) ? { status: 400, body: envelope(400, 'no') } : undefined;
    });
    await using rig = await openKeyedRig(keyed);
    await rig.submit('b1', ['PO-1']);
    await rig.settled();
    const entry = await entryIn(rig, 'PO-1');
    const [at, job] = [rig.store.time.now(), rig.queue.nameJob()];
    const again = next(entry, { kind: 'retry', at, job, delay: 0 }, policy);
    if (again.kind !== 'move') throw new Error('it was not refused');
    await rig.ledger.take(entry, again);
    await rig.queue.add([aloneOf(again.entry)]);
    await until('the order', () => storedNumbers(keyed.api).includes('PO-1'));
    expect(new Set(keyed.keysOf('PO-1')).size).toBe(2);
  });

  it('does not send an order of a canceled batch again: the list decides', async () => {
    const isOther = (number = '') => number === 'OLD' || number === 'NEW';
    await using keyed = await openKeyedApi(({ order }) =>
      isOther(order?.purchaseOrderNumber)
        ? undefined
        : { drop: true, store: order?.purchaseOrderNumber === 'PO-1' },
    );
    await using rig = await openKeyedRig(keyed, { backoff: { initial: DAY, max: DAY } });
    await rig.submit('b0', ['OLD']);
    await rig.settled();
    await rig.submit('b1', ['PO-1', 'PO-2']);
    const areDoubted = async () =>
      (await entryIn(rig, 'PO-1')).repeats && (await entryIn(rig, 'PO-2')).repeats;
    await until('the doubts', areDoubted);
    const { redis, keys, time } = rig.store;
    await rig.batches.cancel('b1', { at: time.now(), who: 'anna' });
    const cancelled = time.now();
    await redis.zadd(keys.due, cancelled, 'PO-1', cancelled, 'PO-2');
    // Orders that are created before and a settle later show that the list is complete there.
    await until('a settle', () => time.now() - cancelled > 300);
    await rig.submit('b2', ['NEW']);
    await until('the list', async () => {
      const { state, repeats } = await entryIn(rig, 'PO-2');
      return state === 'retry' && !repeats;
    });
    await redis.zadd(keys.due, time.now(), 'PO-2');
    await rig.settled();
    expect(await rig.batches.find('b1')).toMatchObject({ counts: { accepted: 1, cancelled: 1 } });
    expect(keyed.api.calls.filter(({ endpoint }) => endpoint === 'create')).toHaveLength(4);
  });
});
