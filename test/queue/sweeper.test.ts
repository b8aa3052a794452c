import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { Entry } from '../../src/ledger/entry.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { createSweeper } from '../../src/queue/sweeper.ts';
import { entryOf, orderOf, policy } from '../support/entry.ts';
import { openTestRedis } from '../support/open-redis.ts';

it('an attempt past its deadline stays as it is while this process has its call in flight', async () => {
  await using store = await openTestRedis();
  const ledger = createLedger(store);
  const queue = { has: async () => [], add: async () => undefined, nameJob: () => 'job' };
  const log = pino({ level: 'silent' });
  const sweeper = createSweeper({
    ledger,
    queue: queue as never,
    time: store.time,
    policy,
    log,
    isHeld: () => false,
  });
  const entry: Entry = entryOf({
    order: orderOf('A'),
    state: 'sending',
    attempt: 1,
    deadline: 1,
    lastAt: 1,
  });
  // As it is stored, without an intent of now.
  await store.redis.set(store.keys.open('A'), `${entry.version}:${JSON.stringify(entry)}`);
  await store.redis.zadd(store.keys.due, 1, 'A');
  const state = async () => {
    const [known] = await ledger.lookup(['A']);
    return known?.kind === 'open' ? known.entry.state : known?.kind;
  };
  ledger.inFlight.add('A');
  await sweeper.tick();
  expect(await state()).toBe('sending');
  ledger.inFlight.delete('A');
  await sweeper.tick();
  expect(await state()).toBe('unknown');
});
