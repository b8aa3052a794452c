import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAdoption } from '../../src/ledger/adopt.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { createRetention } from '../../src/ledger/retention.ts';
import type { Redis } from '../../src/redis/connect.ts';
import { type OpenRedis, openTestRedis } from '../support/open-redis.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);

describe('the retention of the ledger', () => {
  let store: OpenRedis;
  beforeAll(async () => {
    store = await openTestRedis();
  });
  afterAll(() => store[Symbol.asyncDispose]());

  async function settle(...numbers: string[]): Promise<void> {
    await store.redis.flushall();
    await createAdoption(store)(
      numbers.map((purchaseOrderNumber) => ({ purchaseOrderNumber, digest: 'AAAAAAAAAAAAAAAA' })),
      START,
    );
  }

  async function kinds(...numbers: string[]): Promise<string[]> {
    return (await createLedger(store).lookup(numbers)).map(({ kind }) => kind);
  }

  it('forgets only what no source has shown for that long', async () => {
    await settle('old', 'shown');
    const retention = createRetention({ ...store, keep: 30 * DAY });
    await retention.shown(['shown', 'unknown'], START + 20 * DAY);
    expect(await retention.forget(START + 30 * DAY)).toBe(0);
    expect(await retention.forget(START + 31 * DAY)).toBe(1);
    expect(await kinds('old', 'shown', 'unknown')).toEqual(['nothing', 'accepted', 'nothing']);
    expect(await retention.forget(START + 51 * DAY)).toBe(1);
  });

  it('keeps how the number of an order is spelled, also when it is shown again', async () => {
    await settle('po-0088');
    await createRetention({ ...store, keep: DAY }).shown(['PO-88'], START + 5 * DAY);
    const [known] = await createLedger(store).lookup(['Po-088']);
    expect(known).toMatchObject({ kind: 'accepted', compact: { number: 'po-0088' } });
  });

  it('keeps an order that a source still shows', async () => {
    await settle('shown');
    const before = await createLedger(store).lookup(['shown']);
    await createRetention({ ...store, keep: DAY }).shown(['shown'], START + 5 * DAY);
    expect(await createLedger(store).lookup(['shown'])).toEqual(before);
  });

  it('forgets operator actions after the order, and after the last action', async () => {
    await settle('old', 'kept');
    const { redis, keys } = store;
    const operatorAction = (day: number) =>
      JSON.stringify({ at: START + day * DAY, who: 'anna', what: 'retried' });
    await redis.rpush(keys.operatorActions('old'), operatorAction(0));
    await redis.rpush(keys.operatorActions('kept'), operatorAction(0));
    await redis.rpush(keys.operatorActions('given up'), operatorAction(0));
    await redis.rpush(
      keys.operatorActions('given up later'),
      operatorAction(0),
      operatorAction(10),
    );
    await redis.rpush(keys.operatorActions('under way'), operatorAction(0));
    await redis.set(keys.open('under way'), '1 {}');
    const retention = createRetention({ ...store, keep: 30 * DAY });
    await retention.shown(['kept'], START + 20 * DAY);
    expect(await retention.forget(START + 31 * DAY)).toBe(1);
    const ledger = createLedger(store);
    const left = ['old', 'kept', 'given up', 'given up later', 'under way'].map((number) =>
      ledger.operatorActions(number),
    );
    expect((await Promise.all(left)).map(({ length }) => length)).toEqual([0, 1, 0, 2, 1]);
  });

  /** A connection on which something happens right after a reply of this command. */
  function redisAfter(command: 'hgetall' | 'lrange', happens: () => Promise<unknown>): Redis {
    return new Proxy(store.redis, {
      get(redis, name) {
        const value = Reflect.get(redis, name);
        if (typeof value !== 'function') return value;
        if (name !== command) return value.bind(redis);
        return async (...args: unknown[]) => {
          const reply = await value.apply(redis, args);
          await happens();
          return reply;
        };
      },
    });
  }

  it('does not forget an order that a source shows while the ledger is read', async () => {
    await settle('shown');
    const now = START + 31 * DAY;
    const { shown } = createRetention({ ...store, keep: 30 * DAY });
    const redis = redisAfter('hgetall', () => shown(['shown'], now));
    expect(await createRetention({ ...store, redis, keep: 30 * DAY }).forget(now)).toBe(0);
    expect(await kinds('shown')).toEqual(['accepted']);
  });

  it('does not forget the history of an order on which a person acts meanwhile', async () => {
    await settle();
    const { keys } = store;
    const act = (at: number) =>
      store.redis.rpush(
        keys.operatorActions('4711'),
        JSON.stringify({ at, who: 'anna', what: 'retried' }),
      );
    await act(START);
    const redis = redisAfter('lrange', () => act(START + 31 * DAY));
    await createRetention({ ...store, redis, keep: 30 * DAY }).forget(START + 31 * DAY);
    expect(await createLedger(store).operatorActions('4711')).toHaveLength(2);
  });

  it('names the orders that are forgotten before they are noted as shown', async () => {
    await settle('old', 'new');
    const { shown, forget } = createRetention({ ...store, keep: 30 * DAY });
    await shown(['new'], START + 20 * DAY);
    await forget(START + 31 * DAY);
    expect(await shown(['old', 'new'], START + 31 * DAY)).toEqual(new Set(['old']));
  });

  it('reads the ledger once a day, also when another daemon did', async () => {
    await settle('old');
    const reads = async () =>
      /cmdstat_hgetall:calls=(\d+)/.exec(await store.redis.info('commandstats'))?.[1];
    const forget = (now: number) => createRetention({ ...store, keep: 30 * DAY }).forget(now);
    expect(await forget(START + 30 * DAY)).toBe(0);
    const before = await reads();
    expect([await forget(START + 31 * DAY - 1), await reads()]).toEqual([0, before]);
    expect(await forget(START + 31 * DAY)).toBe(1);
  });

  it('forgets nothing with forever', async () => {
    await settle('old');
    expect(await createRetention({ ...store, keep: 'forever' }).forget(START + 10_000 * DAY)).toBe(
      0,
    );
    expect(await kinds('old')).toEqual(['accepted']);
  });
});
