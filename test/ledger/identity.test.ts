import { rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createAdoption } from '../../src/ledger/adopt.ts';
import { createBatches } from '../../src/ledger/batches/batches.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { next } from '../../src/ledger/state-machine/next.ts';
import { entryOf, orderOf, policy } from '../support/entry.ts';
import { useLedgerPlace } from '../support/ledger-place.ts';

describe('identity', () => {
  const place = useLedgerPlace();
  const { daemon, change } = place;

  it('is new when nobody remembers it, and the same afterwards', async () => {
    expect(await daemon().establish()).toBe('new');
    expect(await daemon().establish()).toBe('same');
    expect(await daemon('another-machine').establish()).toBe('same');
  });

  it('notices a flushed Redis, in memory and after a restart by its file', async () => {
    const running = daemon();
    await running.establish();
    await change(running, 5);
    await place.store.redis.flushall();
    expect(await running.establish()).toBe('emptied');
    await place.store.redis.flushall();
    expect(await daemon().establish()).toBe('emptied');
    // So is a planned move to another Redis.
    const [hold = ''] = await place.store.redis.hvals(place.store.keys.breaker);
    expect(JSON.parse(hold)).toMatchObject({
      code: 'ledger-rolled-back',
      facts: { loss: 'emptied' },
    });
  });

  it('notices an older state of the same Redis', async () => {
    const running = daemon();
    await running.establish();
    await change(running, 5);
    const before = await place.store.redis.hgetall(place.store.keys.identity);
    await change(running, 1);
    await running.store();
    await place.store.redis.hset(place.store.keys.identity, before);
    expect(await daemon().establish()).toBe('rolled-back');
  });

  it('notices that its own change is lost, also when others raised the count again', async () => {
    const { redis, keys } = place.store;
    const [one, two] = [daemon('one'), daemon('two')];
    await one.establish();
    await two.establish();
    const ledger = createLedger({ redis, keys, identity: one });
    const entry = entryOf({ order: orderOf('A') });
    await ledger.enter(entry, undefined, 1000);
    const own = keys.own(one.own().daemon);
    const [before, count] = [await redis.hgetall(keys.identity), await redis.get(own)];
    await ledger.enter(entryOf({ order: orderOf('B') }), undefined, 1000);
    await redis.hset(keys.identity, before);
    await redis.set(own, count ?? '');
    await createLedger({ redis, keys, identity: two }).enter(
      entryOf({ order: orderOf('C') }),
      undefined,
      1000,
    );
    // What is no new attempt is still recorded, and hides nothing.
    await ledger.enter(entryOf({ order: orderOf('D') }), undefined, 1000);
    const at = place.store.time.now();
    const begin = next(entry, { kind: 'begin', at, deadline: at + 1000 }, policy);
    await expect(ledger.take(entry, begin)).rejects.toMatchObject({ code: 'ledger-rolled-back' });
    expect(await one.establish()).toBe('rolled-back');
    expect([await one.establish(), await two.establish()]).toEqual(['same', 'same']);
    expect(await redis.hget(keys.rebuild, 'why')).toBe('rolled-back');
  });

  it.each([
    ['and nobody else made a change since', false],
    ['also when others made as many changes since', true],
  ])(
    'notices at the end of a file that Redis lost only what the file counted, %s',
    async (_, others) => {
      const identity = daemon();
      await identity.establish();
      const ledger = createLedger({ ...place.store, identity });
      const batches = createBatches({ ...place.store, owner: 'me', identity });
      const since = batches.epoch();
      const { keys, redis } = place.store;
      await batches.begin(
        { batch: 'b1', source: 'inbox', kind: 'inbox', name: 'a.csv', path: '/a.csv' },
        1,
      );
      const result = {
        outcome: 'invalid',
        attempts: 0,
        at: 1,
        code: 'invalid',
        facts: {},
      } as const;
      const before = await Promise.all([
        redis.hgetall(keys.identity),
        redis.get(keys.own(identity.own().daemon)),
      ]);
      await ledger.count('b1', 1, [{ ordinal: 0, number: 'A', result }]);
      // What a failover to a replica a moment behind leaves.
      if (!others)
        await redis.hset(keys.identity, { ...before[0], sequence: before[0]['sequence'] ?? 0 });
      await redis.set(keys.own(identity.own().daemon), before[1] ?? 0);
      await redis.del(keys.counted('b1'));
      expect(await batches.admitted('b1', 1, since)).toBe(false);
      expect(await batches.find('b1')).toMatchObject({ state: 'reading' });
    },
  );

  it('notices that Redis lost only what the list of the API had shown', async () => {
    const identity = daemon();
    await identity.establish();
    const before = await place.store.redis.hgetall(place.store.keys.identity);
    await createAdoption(place.store)([{ purchaseOrderNumber: 'A', digest: 'x' }], 1);
    expect(await identity.establish()).toBe('same');
    await place.store.redis.hset(place.store.keys.identity, {
      ...before,
      sequence: before['sequence'] ?? 0,
    });
    expect(await identity.establish()).toBe('rolled-back');
  });

  it('notices by the name of its epoch only that Redis is another one, which counted further', async () => {
    const running = daemon('one');
    await running.establish();
    await change(running, 2);
    await place.store.redis.flushall();
    const other = daemon('two');
    await other.establish();
    await change(other, 9);
    expect(await running.establish()).toBe('rolled-back');
  });

  it('notices by the sequence only that the changes of a daemon that is gone are lost', async () => {
    const [gone, watching] = [daemon('one'), daemon('two')];
    await gone.establish();
    const before = await place.store.redis.hgetall(place.store.keys.identity);
    await change(gone, 3);
    await watching.establish();
    await place.store.redis.hset(place.store.keys.identity, before);
    expect(await watching.establish()).toBe('rolled-back');
  });

  it('notices by the file only what was lost while no daemon was running', async () => {
    const running = daemon();
    await running.establish();
    const before = await place.store.redis.hgetall(place.store.keys.identity);
    await change(running, 3);
    await running.store();
    await place.store.redis.hset(place.store.keys.identity, before);
    expect(await daemon('another-machine').establish()).toBe('same');
    expect(await daemon().establish()).toBe('rolled-back');
  });

  it('is noticed by one daemon; the others accept the new epoch as the same ledger', async () => {
    const [one, two] = [daemon('one'), daemon('two')];
    await one.establish();
    await two.establish();
    await change(one, 3);
    await place.store.redis.flushall();
    expect([await one.establish(), await two.establish()]).toEqual(['emptied', 'same']);
    expect(two.known().epoch).toBe(one.known().epoch);
  });

  it('remembers what another daemon of its machine saw while it was suspended', async () => {
    const [awake, asleep] = [daemon(), daemon()];
    await awake.establish();
    await asleep.establish();
    const before = await place.store.redis.hgetall(place.store.keys.identity);
    await change(awake, 5);
    await awake.store();
    await place.store.redis.hset(place.store.keys.identity, before);
    expect(await asleep.establish()).toBe('rolled-back');
  });

  it('remembers an epoch that another daemon of its machine began while it was suspended', async () => {
    const [awake, asleep] = [daemon(), daemon()];
    await awake.establish();
    await asleep.establish();
    const before = await place.store.redis.hgetall(place.store.keys.identity);
    await place.store.redis.flushall();
    expect(await awake.establish()).toBe('emptied');
    await place.store.redis.del(place.store.keys.identity);
    await place.store.redis.hset(place.store.keys.identity, before);
    expect(await asleep.establish()).toBe('rolled-back');
  });

  it('accepts a Redis that knows more than its file, because the file is written periodically', async () => {
    const running = daemon();
    await running.establish();
    await change(running, 9);
    expect(await daemon().establish()).toBe('same');
  });

  it('does not know what another ledger sent that was used in its place, and says so once for each', async () => {
    const first = daemon();
    expect(await first.establish('another')).toBe('new');
    expect(await daemon().establish('another')).toBe('same');
    await place.store.redis.del(place.store.keys.rebuild);
    const back = daemon();
    expect(await back.establish('another')).toBe('returned');
    expect(await place.store.redis.hget(place.store.keys.rebuild, 'why')).toBe('rolled-back');
    expect([await back.establish(), await first.establish(), await daemon().establish()]).toEqual([
      'same',
      'same',
      'same',
    ]);
  });

  it('survives the loss of its file', async () => {
    await daemon().establish();
    await rm(place.at('shared.json'));
    expect(await daemon().establish()).toBe('same');
  });

  it('stays the same after kill -9 of a durable Redis', async () => {
    const running = daemon();
    await running.establish();
    await change(running, 20);
    await place.store.server.restart();
    expect(await running.establish()).toBe('same');
  });
});
