import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createCircuitBreaker } from '../../src/deliver/circuit-breaker.ts';
import { claimFile } from '../../src/intake/claim.ts';
import { createBatches } from '../../src/ledger/batches/batches.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { inspectFile } from '../../src/parse/inspect.ts';
import { unreadable } from '../../src/parse/unreadable.ts';
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
  await writeFile(path.join(inbox, 'orders.csv'), content);
  const source = inboxSource(inbox);
  const file = await claimFile(path.join(inbox, 'orders.csv'), source, new Date());
  if (file === 'taken') throw new Error('nobody else is here');
  const ledger = createLedger(store);
  const { config } = configOf(LEAST);
  const deps = { store, clock: systemClock, probe: { initial: 100, max: 100 } };
  const breaker = createCircuitBreaker({ ...deps, onPaused: () => undefined, onResumed: () => undefined });

  /** `slowly`: each of its reports waits until `go` is called. */
  function daemon(owner: string, slowly = false) {
    const batches = createBatches({ ...store, owner });
    const { promise: gone, resolve: go } = Promise.withResolvers<void>();
    let arrived = false;
    const slow: typeof breaker = {
      ...breaker,
      async during(from, to) {
        arrived = true;
        await gone;
        return breaker.during(from, to);
      },
    };
    const settlement = openSettlement({
      config: { ...config, sources: [source], reports: { ...config.reports, path: reports } },
      store,
      side: { batches, ledger, breaker: slowly ? slow : breaker },
      clock: systemClock,
      log: pino({ level: 'silent' }),
      inspections: new Map(),
      onSettled: () => undefined,
    });
    return { batches, settlement, go, arrived: () => arrived };
  }

  const { batches } = daemon('first');
  const { batch } = await batches.begin(file, store.time.now());
  const { sha256, bytes, records, shape, warnings } = await inspectFile(file.path, undefined, {});
  await batches.inspected(batch, { sha256, bytes, records, shape, warnings });
  const invalid = { outcome: 'invalid', attempts: 0, at: store.time.now(), code: 'empty', message: '' } as const;
  await ledger.count(batch, store.time.now(), [{ ordinal: 0, number: 'PO-1', result: invalid }]);
  await batches.admitted(batch, 1, '');
  await batches.admitting(batch, sha256);
  const kept = stack.move();
  return {
    batch,
    store,
    file,
    path: file.path,
    inbox,
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
    report: async (): Promise<Report> => JSON.parse(await readFile(path.join(reports, batch, 'report.json'), 'utf8')),
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
  it('the final report is not replaced by progress that another daemon was about to write', async () => {
    await using place = await openPlace();
    const [slow, quick] = [place.daemon('slow', true), place.daemon('quick')];
    const telling = slow.settlement.progress(place.batch);
    await until('the slow one to be about to write', slow.arrived);
    await quick.settlement.tick();
    await quick.settlement[Symbol.asyncDispose]();
    slow.go();
    await telling;
    await place.settled(quick.settlement);
    expect(await place.report()).toMatchObject({ state: 'finished', counts: { invalid: 1 } });
  });

  it('a batch that is settled again after its file was put away gets its final report again', async () => {
    await using place = await openPlace();
    const { settlement } = place.daemon('first');
    await place.settled(settlement);
    await place.forgetThatItIsDone();
    await settlement.progress(place.batch);
    expect(await place.report()).toMatchObject({ state: 'running' });
    await place.settled(settlement);
    expect(await place.report()).toMatchObject({ state: 'finished', counts: { orders: 1, invalid: 1 }, open: 1 });
  });

  it('a batch that corrects another one ends although the report of that one was removed', async () => {
    const old = '20261121T071500Z-inbox-orders-3f2a91c0';
    const header = 'purchaseOrderNumber,articleCode,quantity,_error_line,_error_code,_error_message,_error_check';
    await using place = await openPlace(`${header}\nPO-1,,1,2,missing,is empty (line 2 of batch ${old}),01.000\n`);
    const { batches, settlement } = place.daemon('first');
    await batches.begin({ batch: old, source: 'inbox', kind: 'inbox', name: 'old.csv', path: '/none' }, 1);
    await batches.done(old);
    await place.settled(settlement);
    expect(await place.report()).toMatchObject({ state: 'finished', counts: { invalid: 1 } });
    await settlement[Symbol.asyncDispose]();
  });

  it('a batch whose report another daemon writes is skipped, not waited for', async () => {
    await using place = await openPlace();
    const { settlement } = place.daemon('first');
    const theirs = await place.daemon('other').batches.lease(place.batch, 'reportLease');
    await settlement.tick();
    await settlement[Symbol.asyncDispose]();
    expect(await place.batches.find(place.batch)).toMatchObject({ state: 'open' });
    await theirs?.release();
    await place.settled(settlement);
  });

  const changed = unreadable('changed', 'orders.csv was written to.', {}, 'Drop it again.');

  it('a file that was appended to after its orders were admitted is unreadable, and reports these orders', async () => {
    await using place = await openPlace();
    const { settlement } = place.daemon('first');
    await appendFile(place.path, 'PO-2,A,1\n');
    const batch = await place.batches.find(place.batch);
    if (batch) await settlement.settleUnreadable(batch, changed, '');
    await place.settled(settlement);
    expect(await place.report()).toMatchObject({
      state: 'unreadable',
      error: { code: 'unreadable-changed', remedy: 'Drop it again.' },
      counts: { orders: 1, invalid: 1 },
      open: 1,
    });
    expect(await place.read('results.csv')).toMatch(/\n2,PO-1,invalid,0,[^,]+,[a-z-]+,"?\w+: /);
    expect(await place.read('dead-letters.csv')).toMatch(/^PO-1,,1,2,/m);
    expect(await place.read('report.html')).toContain('1 order had its outcome before that');
    const [day = ''] = await readdir(path.join(place.inbox, 'failed'));
    expect(await readdir(path.join(place.inbox, 'failed', day))).toContain('orders.csv.fix.csv');
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
    expect(await place.batches.closings(older)).toMatchObject([{ by: 'replaced', batch: place.batch }]);
    expect(await place.batches.closings(newer)).toEqual([]);
  });

  it('a file that became unreadable is read again if Redis lost something since its reader began', async () => {
    await using place = await openPlace();
    const { settlement } = place.daemon('first');
    const batch = await place.batches.find(place.batch);
    if (batch) expect(await settlement.settleUnreadable(batch, changed, 'an epoch that is over')).toBeUndefined();
    expect(await place.batches.find(place.batch)).not.toHaveProperty('unreadable');
  });

  it('a file whose content was replaced after its orders were admitted still has their final counts', async () => {
    await using place = await openPlace();
    const { settlement } = place.daemon('first');
    await writeFile(place.path, 'something else entirely, and long enough to cover what was there before\n');
    const batch = await place.batches.find(place.batch);
    if (batch) await settlement.settleUnreadable(batch, changed, '');
    await place.settled(settlement);
    expect(await place.report()).toMatchObject({ state: 'unreadable', counts: { orders: 1, invalid: 1 }, open: 1 });
    expect((await place.read('results.csv')).trimEnd().split('\n')).toHaveLength(1);
  });
});
