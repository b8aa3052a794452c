import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createBatches } from '../../src/ledger/batches/batches.ts';
import type { Entry } from '../../src/ledger/entry.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { SWEEP_AFTER } from '../../src/ledger/state-machine/step.ts';
import { createSweeper } from '../../src/queue/sweeper.ts';
import { entryOf, orderOf, policy } from '../support/entry.ts';
import { openTestRedis } from '../support/open-redis.ts';

const FILE = { batch: 'b1', source: 'inbox', kind: 'inbox', name: 'a.csv', path: '/none' } as const;

it('an order of a held batch is parked until its batch is released, also if nobody else looks for it', async () => {
  await using store = await openTestRedis();
  const ledger = createLedger(store);
  const added: string[] = [];
  const queue = {
    has: async () => [false],
    add: async (jobs: readonly { numbers: readonly string[] }[]) =>
      void added.push(...jobs.flatMap(({ numbers }) => numbers)),
    nameJob: () => 'job',
  };
  let isHeld = true;
  const sweeperAt = (now: number) =>
    createSweeper({
      ledger,
      queue: queue as never,
      time: { ...store.time, now: () => now },
      policy,
      log: pino({ level: 'silent' }),
      sendFirst: () => false,
      isHeld: () => isHeld,
    });
  const now = store.time.now();
  await createBatches({ ...store, owner: 'test' }).begin(FILE, now);
  await ledger.enter(entryOf({ order: orderOf('A'), batch: FILE.batch }), undefined, now);
  await sweeperAt(now).tick();
  expect([await ledger.sendable(now), await ledger.unsettled(), added]).toEqual([0, 1, []]);
  isHeld = false;
  await sweeperAt(now + SWEEP_AFTER - 1).tick();
  expect(added).toEqual([]);
  await sweeperAt(now + SWEEP_AFTER).tick();
  expect([added, await ledger.unparked()]).toEqual([['A'], 1]);
});

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
    sendFirst: () => false,
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
