import {
  appendFile,
  chmod,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { systemClock } from '../../src/core/clock.ts';
import { PoSyncError } from '../../src/core/errors.ts';
import { inspectOrders } from '../../src/correct/inspection.ts';
import { createCircuitBreaker } from '../../src/deliver/circuit-breaker.ts';
import { claimFile } from '../../src/intake/claim.ts';
import { decided } from '../../src/journal/decided.ts';
import { createBatches } from '../../src/ledger/batches/batches.ts';
import { createDeadLetters } from '../../src/ledger/dead-letters.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import type { SettlementContext } from '../../src/put-away/put-batch-away.ts';
import { openSettlement } from '../../src/put-away/settlement.ts';
import type { Report } from '../../src/report/report.ts';
import { configOf, LEAST } from '../support/config-text.ts';
import { inboxSource } from '../support/inbox-source.ts';
import { openTestRedis } from '../support/open-redis.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';

/** Two daemons with one folder and one Redis, and a file whose only order is counted. */
async function openPlace(content = 'purchaseOrderNumber,articleCode,quantity\nPO-1,,1\n') {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await openTestRedis());
  const { path: folder } = stack.use(await makeTempFolder());
  const [inbox, reports] = [path.join(folder, 'inbox'), path.join(folder, 'reports')];
  await mkdir(inbox);
  await mkdir(reports);
  await writeFile(path.join(inbox, 'orders.csv'), content);
  const source = inboxSource(inbox);
  const file = await claimFile(path.join(inbox, 'orders.csv'), source, new Date());
  if (file === 'taken') throw new Error('nobody else is here');
  const ledger = createLedger(store);
  const { config } = configOf(LEAST);
  const deps = { store, clock: systemClock, probe: { initial: 100, max: 100 } };
  const breaker = createCircuitBreaker({
    ...deps,
    onPaused: () => undefined,
    onResumed: () => undefined,
  });

  /** `slowly`: each of its reports waits until `go` is called; `in the middle`: while its orders are written. */
  function daemon(
    owner: string,
    slowly: boolean | 'in the middle' = false,
    inspections: SettlementContext['inspections'] = new Map(),
    sources: Config['sources'] = [source],
  ) {
    const batches = createBatches({ ...store, owner });
    const { promise: gone, resolve: go } = Promise.withResolvers<void>();
    let arrived = false;
    const wait = async () => {
      arrived = true;
      await gone;
    };
    const slow: typeof breaker = {
      ...breaker,
      during: (from, to) => wait().then(() => breaker.during(from, to)),
    };
    const slowest: typeof batches = {
      ...batches,
      results: (...asked) => wait().then(() => batches.results(...asked)),
    };
    const needed: number[] = [];
    const events: string[] = [];
    const log = pino(
      { level: 'info' },
      { write: (line) => void events.push(JSON.parse(line).event) },
    );
    const settlement = openSettlement({
      config: { ...config, sources, reports: { ...config.reports, path: reports } },
      store,
      side: {
        batches: slowly === 'in the middle' ? slowest : batches,
        ledger,
        breaker: slowly === true ? slow : breaker,
      },
      clock: systemClock,
      log,
      inspections,
      announce: async () => undefined,
      onSettled: (_, needPerson) => void needed.push(needPerson),
    });
    return { batches, breaker, settlement, go, arrived: () => arrived, needed, events };
  }

  const { batches } = daemon('first');
  const { batch } = await batches.begin(file, store.time.now());
  const { sha256, bytes, records, shape, warnings } = await inspectOrders(file.path, []);
  await batches.inspected(batch, { sha256, bytes, records, shape, warnings });
  const invalid = {
    outcome: 'invalid',
    attempts: 0,
    at: store.time.now(),
    code: 'invalid',
    facts: {},
  } as const;
  await ledger.count(batch, store.time.now(), [{ ordinal: 0, number: 'PO-1', result: invalid }]);
  await batches.admitted(batch, 1, '');
  await batches.admitting(batch, sha256);
  const kept = stack.move();
  return {
    batch,
    store,
    config: { ...config, reports: { ...config.reports, path: reports } },
    file,
    path: file.path,
    inbox,
    reports,
    /** Reads a file of the report's folder. */
    read: (name: string) => readFile(path.join(reports, batch, name), 'utf8'),
    batches,
    daemon,
    /** Settles until the batch is done. */
    settled: ({ tick }: { tick: () => Promise<void> }) =>
      until('the end', async () => {
        await tick();
        return (await batches.find(batch))?.state === 'done';
      }),
    /** Where the settled file is. */
    settledPath: async (): Promise<string> => (await batches.find(batch))?.settledPath ?? '',
    /** Makes the checks of settled files due. */
    async passAMinute(): Promise<void> {
      for (const check of await store.redis.zrange(store.keys.fileChecks, 0, '-1')) {
        await store.redis.zadd(store.keys.fileChecks, 0, check);
      }
    },
    report: async (): Promise<Report> =>
      JSON.parse(await readFile(path.join(reports, batch, 'report.json'), 'utf8')),
    /** Leaves the batch as a daemon leaves it that is killed just before its last step. */
    async forgetThatItIsDone(): Promise<void> {
      await store.redis.hset(store.keys.batch(batch), { state: 'open' });
      await store.redis.sadd(store.keys.finished, batch);
      await store.redis.sadd(store.keys.active, batch);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

describe('settlement', () => {
  it('an order that a person settles after the report is answered once more, and no answer changes', async () => {
    await using place = await openPlace();
    const answers = path.join(place.reports, 'answers');
    await mkdir(answers);
    const source = { ...inboxSource(place.inbox), answers };
    const { settlement } = place.daemon('first', false, new Map(), [source]);
    const read = async () =>
      Promise.all(
        (await readdir(answers)).sort().map((name) => readFile(path.join(answers, name), 'utf8')),
      );
    const letters = createDeadLetters(place.store);
    await place.settled(settlement);
    const [first = ''] = await read();
    expect(first).toMatch(/^PO-1,,1,invalid,/m);
    const by = { at: place.store.time.now(), who: 'anna', what: 'discarded' } as const;
    await letters.close({ id: `${place.batch}-0`, number: 'PO-1', by });
    // One whose batch cannot be read delays no other.
    const { redis, keys } = place.store;
    await redis.set(keys.batch('a-broken'), 'no hash');
    await redis.sadd(keys.toAnswer, 'a-broken-0');
    await until('only that one to be left', async () => {
      await settlement.answerLater();
      return (await redis.smembers(keys.toAnswer)).join() === 'a-broken-0';
    });
    const [again, second, ...more] = (await read()).toSorted((one) => (one === first ? -1 : 1));
    expect([again, more]).toEqual([first, []]);
    expect(second).toMatch(/^PO-1,,1,cancelled,[^,]+,discarded,discarded by anna,no$/m);
  });

  it('a daemon that was suspended while it wrote a report publishes nothing after another one wrote it', async () => {
    await using place = await openPlace();
    const { redis, keys } = place.store;
    const [slow, quick] = [place.daemon('slow', 'in the middle'), place.daemon('quick')];
    await slow.settlement.tick();
    await until('the slow one to write', slow.arrived);
    // As after ten seconds.
    await redis.del(keys.lease(place.batch));
    await place.settled(quick.settlement);
    const folder = path.join(place.reports, place.batch);
    const files = async () => {
      const names = (await readdir(folder)).filter((name) => !name.startsWith('.'));
      return Promise.all(names.sort().map(async (name) => [name, await place.read(name)]));
    };
    const newer = await files();

    slow.go();
    await slow.settlement[Symbol.asyncDispose]();
    expect(await files()).toEqual(newer);
    expect([slow.needed, slow.events]).toEqual([[], []]);
    expect((await place.batches.find(place.batch))?.unsettled).toBeUndefined();
  });

  it('what people decided is done again where Redis lost it, as soon as the folder of reports can be read', async () => {
    await using place = await openPlace();
    const { batches, settlement } = place.daemon('first');
    const { redis, keys, identity } = place.store;
    await settlement.attend();
    const deciding = { ...place, owner: 'command', clock: systemClock };
    const order = { batch: place.batch, number: 'PO-1', content: '' };
    const decisions = [
      { decision: 'discard', ...order },
      { decision: 'cancel', batch: place.batch },
    ] as const;
    await decided('anna', decisions, deciding, async () => undefined);
    // Redis lost that, too.
    await redis.del(keys.journals);

    await rename(place.reports, `${place.reports}-away`);
    await expect(settlement.recall()).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await redis.hget(keys.identity, 'recalled')).toBeNull();
    await rename(`${place.reports}-away`, place.reports);
    await settlement.recall();
    expect(await redis.hget(keys.identity, 'recalled')).toBe(identity.known().epoch);
    expect(await redis.hlen(keys.discards(place.batch))).toBe(1);
    expect((await batches.find(place.batch))?.cancelledBy).toMatchObject({ who: 'anna' });
  });

  it('a batch whose report cannot be written says why, until it is written', async () => {
    await using place = await openPlace();
    const { settlement } = place.daemon('first');
    const { reports } = place;
    await rm(reports, { recursive: true });
    await writeFile(reports, 'not a folder');
    const unsettled = await until('a reason', async () => {
      await settlement.tick();
      return (await place.batches.find(place.batch))?.unsettled;
    });
    expect(unsettled.reason).toContain(reports);
    expect(unsettled.since).toBeLessThanOrEqual(place.store.time.now());
    await settlement[Symbol.asyncDispose]();
    await rm(reports);
    await place.settled(settlement);
    expect(await place.store.redis.hexists(place.store.keys.batch(place.batch), 'unsettled')).toBe(
      0,
    );
  });

  const fence = async () => undefined;
  const changed = new PoSyncError('unreadable-changed', 'orders.csv was written to.', {
    remedy: 'Drop it again.',
  });

  it('a file that was appended to after its orders were admitted is unreadable, and reports these orders', async () => {
    await using place = await openPlace();
    const { settlement } = place.daemon('first');
    await appendFile(place.path, 'PO-2,A,1\n');
    const batch = await place.batches.find(place.batch);
    if (batch) await settlement.settleUnreadable(batch, changed, '', fence);
    await place.settled(settlement);
    expect(await place.report()).toMatchObject({
      state: 'unreadable',
      error: { code: 'unreadable-changed', remedy: 'Drop it again.' },
      counts: { orders: 1, invalid: 1 },
    });
    expect(await place.read('results.csv')).toMatch(
      /\n2,PO-1,invalid,0,[^,]+,[a-z-]+,"?articleCode /,
    );
    expect(await place.read('dead-letters.json')).toContain(
      '"cells":{"purchaseOrderNumber":"PO-1",',
    );
    expect(await place.read('report.html')).toContain('1 order had its outcome before that');
  });

  it('a file that grew between its last admitted order and its report is unreadable, and sends no false duplicate', async () => {
    await using place = await openPlace();
    await appendFile(place.path, 'PO-2,A,1\n');
    await place.settled(place.daemon('first').settlement);
    expect(await place.report()).toMatchObject({
      state: 'unreadable',
      error: { code: 'unreadable-changed' },
      counts: { orders: 1, invalid: 1 },
    });
    expect(await place.read('results.csv')).not.toContain('PO-2');
  });

  it.each([
    [
      'that grew after this daemon inspected it is unreadable',
      'unreadable',
      (file: string) => appendFile(file, 'x'),
    ],
    [
      'with other permissions than this daemon saw is finished',
      'finished',
      (file: string) => chmod(file, 0o600),
    ],
  ] as const)('a file %s', async (_, state, change) => {
    await using place = await openPlace();
    const inspections = new Map([[place.batch, await inspectOrders(place.path, [])]]);
    await change(place.path);
    const { settlement, events } = place.daemon('first', false, inspections);
    await place.settled(settlement);
    expect(await place.report()).toMatchObject({ state, counts: { orders: 1, invalid: 1 } });
    expect(events.includes('file-changed-after-read')).toBe(state === 'unreadable');
    expect(events).not.toContain('batch-trouble');
  });

  it('of files with one name, those that began before this one are replaced, also within one second', async () => {
    await using place = await openPlace();
    const { redis, keys } = place.store;
    const batch = await place.batches.find(place.batch);
    const { source, name } = place.file;
    const startedAt = batch?.startedAt ?? 0;
    const [older, newer] = [`${place.batch}~`, `${place.batch.slice(0, -1)} `];
    for (const [other, at] of [
      [older, startedAt - 1],
      [newer, startedAt + 1],
    ] as const) {
      await place.batches.begin({ ...place.file, batch: other }, at);
      await redis.hset(keys.unreadable, other, JSON.stringify([source, name]));
    }
    await place.settled(place.daemon('first').settlement);
    expect(await place.batches.find(older)).toMatchObject({ replacedBy: place.batch });
    expect(await place.batches.find(newer)).not.toHaveProperty('replacedBy');
  });

  it('a file that became unreadable is read again if Redis lost something since its reader began', async () => {
    await using place = await openPlace();
    const { settlement } = place.daemon('first');
    const batch = await place.batches.find(place.batch);
    if (batch)
      expect(
        await settlement.settleUnreadable(batch, changed, 'an epoch that is over', fence),
      ).toBeUndefined();
    expect(await place.batches.find(place.batch)).not.toHaveProperty('unreadable');
  });

  it('an unreadable file whose daemon was killed after it moved to failed/ still waits for a person', async () => {
    await using place = await openPlace();
    const { batches, settlement } = place.daemon('first');
    const { redis, keys, time } = place.store;
    const inInbox = path.join(place.inbox, 'broken.csv');
    await writeFile(inInbox, 'no orders');
    const file = await claimFile(inInbox, inboxSource(place.inbox), new Date());
    if (file === 'taken') throw new Error('nobody else is here');
    const { batch } = await batches.begin(file, time.now());
    const settle = async (code: 'unreadable-header' | 'file-missing') => {
      const found = await batches.find(batch);
      const error = new PoSyncError(code, '', { remedy: '' });
      if (found) await settlement.settleUnreadable(found, error, '', fence);
    };
    // Ends the daemon between the move and what follows.
    await redis.set(keys.unreadable, '');
    await expect(settle('unreadable-header')).rejects.toThrow('WRONGTYPE');
    await redis.del(keys.unreadable);
    await settle('file-missing');
    expect(await redis.hkeys(keys.unreadable)).toEqual([batch]);
  });

  it('a file whose content was replaced after its orders were admitted still has their final counts', async () => {
    await using place = await openPlace();
    const { settlement } = place.daemon('first');
    await writeFile(
      place.path,
      'something else entirely, and long enough to cover what was there before\n',
    );
    const batch = await place.batches.find(place.batch);
    if (batch) await settlement.settleUnreadable(batch, changed, '', fence);
    await place.settled(settlement);
    expect(await place.report()).toMatchObject({
      state: 'unreadable',
      counts: { orders: 1, invalid: 1 },
    });
    expect((await place.read('results.csv')).trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('a settled file', () => {
  it('that its writer appends to is reported once, everywhere that an unreadable file is', async () => {
    await using place = await openPlace();
    const { settlement, needed, events } = place.daemon('first');
    await place.settled(settlement);
    const settled = await place.settledPath();
    expect(path.relative(place.inbox, settled)).toMatch(/^done\//);
    await settlement.checkFiles();
    expect(events).not.toContain('file-changed-after-read');
    for (let round = 0; round < 3; round += 1) {
      await appendFile(settled, 'PO-2,A,1\n');
      await place.passAMinute();
      await settlement.checkFiles();
    }
    expect(events.filter((event) => event === 'file-changed-after-read')).toHaveLength(1);
    expect(needed).toEqual([1, 2]);
    expect(await place.report()).toMatchObject({ state: 'finished' });
    expect(await place.batches.find(place.batch)).toMatchObject({
      unreadable: { code: 'unreadable-changed' },
    });
    const { redis, keys } = place.store;
    expect(await redis.hget(keys.unreadable, place.batch)).toBe('["inbox","orders.csv"]');
    expect(await redis.zcard(keys.fileChecks)).toBe(0);
  });

  it('is checked a minute later, by Redis time, also after a restart', async () => {
    await using place = await openPlace();
    const before = place.store.time.now();
    await place.settled(place.daemon('first').settlement);
    const { redis, keys } = place.store;
    const due = Number(await redis.zscore(keys.fileChecks, place.batch));
    expect(due - before).toBeGreaterThanOrEqual(60_000);
    await appendFile(await place.settledPath(), 'PO-2,A,1\n');
    const next = place.daemon('next');
    await next.settlement.checkFiles();
    expect(next.needed).toEqual([]);
    await place.passAMinute();
    await next.settlement.checkFiles();
    expect(next.needed).toEqual([2]);
  });

  it('is reported by one of two daemons', async () => {
    await using place = await openPlace();
    const [one, two] = [place.daemon('one'), place.daemon('two')];
    await place.settled(one.settlement);
    await appendFile(await place.settledPath(), 'PO-2,A,1\n');
    await place.passAMinute();
    await Promise.all([one, two].map(({ settlement }) => settlement.checkFiles()));
    const said = [...one.events, ...two.events].filter(
      (event) => event === 'file-changed-after-read',
    );
    expect(said).toHaveLength(1);
  });

  it.each<
    [string, (settled: string, place: Awaited<ReturnType<typeof openPlace>>) => Promise<unknown>]
  >([
    ['unchanged', async () => undefined],
    ['removed', (settled) => rm(settled)],
    [
      'removed, while a later file has its place,',
      async (settled, { batches, file, store }) => {
        await writeFile(settled, 'a later file\n');
        await batches.begin({ ...file, batch: 'later' }, store.time.now());
        await batches.putAway('later', settled);
      },
    ],
    [
      'replaced by a link',
      async (settled, { inbox }) => {
        await rename(settled, path.join(inbox, 'longer'));
        await appendFile(path.join(inbox, 'longer'), 'PO-2,A,1\n');
        await symlink(path.join(inbox, 'longer'), settled);
      },
    ],
  ])('that is %s is not reported', async (_, change) => {
    await using place = await openPlace();
    const { settlement, needed, events } = place.daemon('first');
    await place.settled(settlement);
    await change(await place.settledPath(), place);
    await place.passAMinute();
    await settlement.checkFiles();
    expect(needed).toEqual([1]);
    expect(
      events.filter((event) => event.startsWith('file-changed') || event === 'batch-trouble'),
    ).toEqual([]);
    expect(await place.report()).toMatchObject({ state: 'finished' });
    expect(await place.store.redis.zcard(place.store.keys.fileChecks)).toBe(0);
  });

  it('that cannot be checked now is checked again, and does not delay the others', async () => {
    await using place = await openPlace();
    const { settlement, needed } = place.daemon('first');
    await place.settled(settlement);
    const { redis, keys } = place.store;
    const settled = await place.settledPath();
    const shape = { format: { type: 'csv' } } as const;
    await place.batches.begin({ ...place.file, batch: 'long' }, place.store.time.now());
    const inspection = { sha256: '', bytes: 1, records: 1, shape, warnings: [] };
    await place.batches.inspected('long', inspection);
    await place.batches.putAway('long', path.join(path.dirname(settled), 'x'.repeat(300)));
    await redis.zadd(keys.fileChecks, 0, 'long');
    await appendFile(settled, 'PO-2,A,1\n');
    await redis.zadd(keys.fileChecks, 1, place.batch);
    await settlement.checkFiles();
    expect(needed).toEqual([1, 2]);
    const again = Number(await redis.zscore(keys.fileChecks, 'long'));
    expect(again).toBeGreaterThan(place.store.time.now());
  });

  it('of an export has no checks, because it was a copy', async () => {
    await using place = await openPlace();
    const { settlement } = place.daemon('first', false, new Map(), []);
    await place.settled(settlement);
    expect(await place.store.redis.zcard(place.store.keys.fileChecks)).toBe(0);
  });
});
