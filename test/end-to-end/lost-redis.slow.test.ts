import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { keysOf } from '../../src/redis/keys.ts';
import { openFixPlace as openWorkplace } from '../support/fix-as-text.ts';
import { openDatabase } from '../support/shared-redis.ts';
import { until } from '../support/until.ts';
import type { Workplace } from '../support/workplace.ts';

type Copy = readonly (readonly [key: string, value: Buffer | null])[];

function clientOf(url: string): Redis & AsyncDisposable {
  const client = new Redis(url);
  return Object.assign(client, { [Symbol.asyncDispose]: async () => client.disconnect() });
}

/** Everything that Redis has. */
async function copyOf(client: Redis): Promise<Copy> {
  const keys = await client.keys('*');
  return Promise.all(keys.map(async (key) => [key, await client.dumpBuffer(key)] as const));
}

/** Redis has again what it had then, and nothing else. */
async function putBack(client: Redis, copy: Copy): Promise<void> {
  await client.flushdb();
  for (const [key, value] of copy) if (value !== null) await client.restore(key, 0, value);
}

/** A daemon reads a file to its end while delivery is paused. */
async function readPaused(place: Workplace, file: string, orders: number): Promise<void> {
  const daemon = place.start(['start']);
  await until('all orders', async () => {
    const { batches } = await place.json('batches', 'list');
    return batches.some(
      (one: { file: string; state: string; counts: { orders: number } }) =>
        one.file === file && one.counts.orders === orders && one.state !== 'reading',
    );
  });
  daemon.child.kill('SIGTERM');
  await daemon.ended;
}

/** A run sends a file of these orders; returns what it says. */
async function deliver(place: Workplace, ...numbers: string[]): Promise<string> {
  const rows = numbers.map((number) => `${number},NEW,A,1\n`).join('');
  await place.drop(`${numbers.join('-')}.csv`, `${HEAD}\n${rows}`);
  const { code, out, err } = await place.run(['start', '--once']);
  expect(code).toBe(0);
  return out + err;
}

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';
const PACE = 'settle: 500ms, timeout: 2s';

it.concurrent('after Redis came back from before a cancellation, the file stays cancelled, and nothing of it is sent', async () => {
  const redis = await openDatabase();
  await using place = await openWorkplace({ redis, pace: 'settle: 500ms, timeout: 2s' });
  await using client = clientOf(redis);
  await place.run(['pause', '--reason', 'test']);
  const orders = Array.from({ length: 5 }, (_, i) => `NO-${i},NEW,A,1\n`).join('');
  await place.drop('wrong.csv', `${HEAD}\n${orders}`);
  await readPaused(place, 'wrong.csv', 5);
  const copy = await copyOf(client);
  await place.run(['batches', 'cancel', 'wrong.csv', '--yes']);
  await place.run(['resume']);
  await place.run(['start', '--once']);
  const [before] = await place.reportsNow();
  expect(before).toMatchObject({ state: 'cancelled', counts: { cancelled: 5 } });

  await putBack(client, copy);
  await place.run(['resume']);
  await place.run(['start', '--once', '--max-wait', '4m']);
  expect((await place.reportsNow())[0]).toMatchObject({
    state: 'cancelled',
    counts: { accepted: 0, cancelled: 5 },
  });
  expect([...place.stored().keys()]).toEqual([]);
  expect((await place.run(['status', '--exit-code'])).code).toBe(0);
});

it.concurrent('of a cancelled file that is gone together with its report, no report says that its orders were not sent when Redis lost that', async () => {
  const redis = await openDatabase();
  await using place = await openWorkplace({ redis, pace: 'settle: 500ms, timeout: 2s' });
  await using client = clientOf(redis);
  const once = (most = '4m') => place.run(['start', '--once', '--max-wait', most]);
  await once();
  const restore = await snapshotOf(client);
  await place.drop('orders.csv', `${HEAD}\nGOOD-1,NEW,A,1\nGOOD-2,NEW,A,1\n`);
  await once();
  const [before] = await place.reportsNow();
  const keys = keysOf('staging');
  const batch = before?.batch ?? '';
  const known = await client.hgetall(keys.batch(batch));
  expect(known['claimedIn']).toMatch(/./);

  // It was inspected, and nothing of it was admitted. A person removed the report meanwhile.
  await restore();
  const { claimedIn = '', inspection = '' } = known;
  await claimAgain(client, keys, known, { claimedIn, inspection });
  await rm(path.join(place.reports, batch), { recursive: true });
  // Its file does not come back.
  expect((await once('10s')).code).toBe(2);
  expect((await place.run(['batches', 'cancel', batch, '--yes'])).code).toBe(0);
  await once();
  const [after] = await place.reportsNow();
  expect(after?.warnings.join()).toContain('2 orders of it were not read.');
  expect((await place.run(['explain', 'GOOD-1'])).out).toContain('accepted');
  expect(place.stored().size).toBe(2);
});

/** Redis has a batch again as it was when its file was taken, with some more fields. */
async function claimAgain(
  client: Redis,
  keys: ReturnType<typeof keysOf>,
  known: Record<string, string>,
  more: Record<string, string>,
): Promise<void> {
  const {
    batch = '',
    source = '',
    kind = '',
    name = '',
    path: from = '',
    startedAt = '',
    no = '',
  } = known;
  await client.hset(keys.batch(batch), {
    batch,
    source,
    kind,
    name,
    path: from,
    startedAt,
    no,
    lastAt: startedAt,
  });
  await client.hset(keys.batch(batch), { state: 'reading', ...more });
  await client.hset(keys.batchNames, no, batch);
  await client.zadd(keys.batches, startedAt, batch);
  await client.sadd(keys.active, batch);
}

/** What Redis has, and its return to that. */
async function snapshotOf(client: Redis): Promise<() => Promise<void>> {
  const copy = await copyOf(client);
  return async () => {
    await putBack(client, copy);
  };
}

it.concurrent.each([
  ['cancelled', 'lost its data', 'erp/**/*.csv', 'erp/sub/erp.csv'],
  ['discarded', 'came back from before that', 'erp.csv', 'erp.csv'],
  ['discarded', 'came back together with data', 'erp.csv', 'erp.csv'],
])(
  'what was %s in an export is not sent after Redis %s, until the export or its mapping changes (%s)',
  async (what, how, pattern, file) => {
    const redis = await openDatabase();
    const source = `- { name: erp, type: export, path: '${pattern}', mapping: erp, stable: 100ms, poll: 200ms }`;
    const mapping = (more: string) =>
      `mappings:\n  erp: { columns: { purchaseOrderNumber: { is: purchaseOrderNumber }, orderState: { is: orderState }, articleCode: { is: articleCode }, quantity: { is: quantity${more} } } }\n`;
    const refused = { kind: 'answer', status: 400, message: 'unknown article', articles: ['BAD'] };
    const options = { redis, pace: PACE, source, more: mapping('') };
    await using place = await openWorkplace({
      ...options,
      faults: { faults: [refused] },
      sandbox: { record: true },
    });
    await using client = clientOf(redis);
    const once = () => place.run(['start', '--once', '--max-wait', '4m']);
    const exported = path.join(place.folder, file);
    await mkdir(path.dirname(exported), { recursive: true });
    await writeFile(exported, `${HEAD}\nFIRST9,NEW,A,1\n`);
    await once();
    const copy = await copyOf(client);
    const [data, saved] = [path.join(place.folder, 'data'), path.join(place.folder, 'saved')];
    await cp(data, saved, { recursive: true });
    const isCancelled = what === 'cancelled';
    if (isCancelled) await place.run(['pause', '--reason', 'test']);
    await writeFile(exported, `${HEAD}\nFIRST9,NEW,A,1\nX-1,NEW,BAD,1\n`);
    if (isCancelled) {
      await readPaused(place, 'erp.csv', 2);
      expect((await place.run(['batches', 'cancel', 'erp.csv', '--yes'])).code).toBe(0);
      await place.run(['resume']);
      await once();
    } else {
      await once();
      const discarded = await place.run(['dead-letters', 'discard', '--order', 'X-1', '--yes']);
      expect(discarded.code).toBe(0);
    }
    await until('both reports', async () =>
      (await place.reportsNow()).every(({ open, finishedAt }) => open === 0 && finishedAt),
    );
    const before = (await place.reportsNow()).map(({ batch }) => batch);
    expect(before).toHaveLength(2);

    await client.flushdb();
    if (how === 'came back together with data') {
      await rm(data, { recursive: true });
      await cp(saved, data, { recursive: true });
    }
    if (how !== 'lost its data') await putBack(client, copy);
    await place.setFaults([]);
    // Also when a daemon was started twice since.
    for (const _ of [1, 2]) expect((await once()).code).toBe(0);
    expect((await place.reportsNow()).map(({ batch }) => batch)).toEqual(before);
    expect([...place.stored().keys()]).toEqual(['FIRST9']);

    const config = await readFile(place.config, 'utf8');
    await writeFile(place.config, config.replace(mapping(''), mapping(', also: [Qty]')));
    expect((await once()).code).toBe(0);
    expect([...place.stored().keys()]).toEqual(['FIRST9', 'X-1']);
  },
);

it.concurrent('while a ledger that was rolled back waits for the list, reconcile says that nothing is sent again', async () => {
  const redis = await openDatabase();
  await using place = await openWorkplace({ redis, sandbox: { record: true } });
  const rows = Array.from({ length: 7 }, (_, i) => `GOOD-${i + 1},NEW,A,1\n`);
  await place.drop('first.csv', `${HEAD}\n${rows.join('')}`);
  expect((await place.run(['start', '--once'])).code).toBe(0);
  await using client = clientOf(redis);
  await client.flushdb();
  await place.setFaults([{ kind: 'answer', on: 'list', status: 500 }]);
  const daemon = place.start(['start']);
  await until('the pause', async () =>
    (await place.run(['status'])).out.includes('(ledger-rolled-back)'),
  );
  const [pause] = (await place.json('status')).pauses;
  expect(pause).toMatchObject({ ends: 'list', nextTryAt: expect.stringMatching(/Z$/) });
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  await place.setFaults([]);
  const { code, out } = await place.run(['reconcile']);
  expect(code).toBe(2);
  expect(out).toContain('7 orders are at the API but not in the ledger.\n');
  expect(out).not.toContain('sends it again');

  // And so it is: a file with both sends none of them again.
  await place.drop('again.csv', `${HEAD}\nGOOD-1,NEW,A,1\nGOOD-2,NEW,A,1\n`);
  expect((await place.run(['start', '--once'])).code).toBe(0);
  expect([...place.stored().values()]).toEqual(rows.map(() => 1));
  expect((await place.run(['reconcile'])).out).toContain('They agree.');
});

it.concurrent('after a restore of what Redis had before the last short run, no order of that run is created again', async () => {
  const redis = await openDatabase();
  await using place = await openWorkplace({ redis, pace: 'settle: 500ms, timeout: 2s' });
  await using client = clientOf(redis);
  const once = (name: string) => deliver(place, name);
  await once('BEFORE9');
  const backup = await copyOf(client);
  await once('LAST9');
  await putBack(client, backup);
  const before = place.events.filter(({ type }) => type === 'received').length;
  await once('LAST9');
  expect(place.events.filter(({ type }) => type === 'received')).toHaveLength(before);
  expect(place.stored()).toEqual(
    new Map([
      ['BEFORE9', 1],
      ['LAST9', 1],
    ]),
  );
});

it.concurrent('after a restore of the folder of Redis alone, doctor says before the start that it reads the list first, as the instructions do', async () => {
  await using place = await openWorkplace({ redis: 'private', pace: PACE });
  const redis = path.join(place.folder, 'data', 'redis');
  const once = (name: string) => deliver(place, name);
  const doctor = async () => {
    const { findings } = await place.json('doctor');
    return (findings as { check: string; state: string; message: string }[]).filter(
      ({ check }) => check === 'ledger',
    );
  };
  await once('BEFORE9');
  await cp(redis, `${redis}.backup`, { recursive: true });
  await once('LAST9');
  expect(await doctor()).toEqual([]);
  await rm(redis, { recursive: true });
  await rename(`${redis}.backup`, redis);
  const [said, ...more] = await doctor();
  expect(said).toMatchObject({
    state: 'warn',
    remedy: 'Nothing is to be repaired: start the daemon.',
    message: expect.stringMatching(
      /^Redis is older than .*\/data\/ledger, .* reads the API's list before it sends/,
    ),
  });
  expect(more).toEqual([]);
  expect(await once('LAST9')).toContain('ledger-rolled-back');
  expect(Object.fromEntries(place.stored())).toEqual({ BEFORE9: 1, LAST9: 1 });
  expect(await doctor()).toEqual([]);
});

it.concurrent('after a restore of the complete folder data, no order that was sent since the backup is created again', async () => {
  await using place = await openWorkplace({ redis: 'private', pace: 'settle: 500ms, timeout: 2s' });
  const data = path.join(place.folder, 'data');
  const once = (name: string) => deliver(place, name);
  await once('BEFORE9');
  await cp(data, `${data}.backup`, { recursive: true, preserveTimestamps: true });
  await once('LAST9');
  await rm(data, { recursive: true });
  // Moved to its place, a backup would not be noticed.
  await cp(`${data}.backup`, data, { recursive: true, preserveTimestamps: true });
  const before = place.events.filter(({ type }) => type === 'received').length;
  expect(await once('LAST9')).toContain('ledger-rolled-back');
  expect(place.events.filter(({ type }) => type === 'received')).toHaveLength(before);
  expect(Object.fromEntries(place.stored())).toEqual({ BEFORE9: 1, LAST9: 1 });

  // From then on it is no copy, also in another place on the same disk.
  await rename(data, `${data}.moved`);
  await rename(`${data}.moved`, data);
  expect(await once('NEXT9')).not.toContain('ledger-rolled-back');
  expect(Object.fromEntries(place.stored())).toEqual({ BEFORE9: 1, LAST9: 1, NEXT9: 1 });
});

it.concurrent('after another folder data was used in its place, as while a volume was not mounted, no order sent then is created again', async () => {
  await using place = await openWorkplace({ redis: 'private', pace: 'settle: 500ms, timeout: 2s' });
  const data = path.join(place.folder, 'data');
  const once = (...numbers: string[]) => deliver(place, ...numbers);
  await once('FIRST9');
  await rename(data, `${data}.away`);
  expect(await once('FIRST9', 'MEANWHILE9')).not.toContain('ledger-rolled-back');
  await rename(data, `${data}.other`);
  await rename(`${data}.away`, data);
  const said = await once('FIRST9', 'MEANWHILE9', 'BACK9');
  expect(said).toContain('ledger-rolled-back');
  expect(said).toContain('another ledger was used with this folder `data` meanwhile');
  expect(Object.fromEntries(place.stored())).toEqual({ FIRST9: 1, MEANWHILE9: 1, BACK9: 1 });

  // Once: from then on the inbox names this ledger.
  expect(await once('NEXT9')).not.toContain('ledger-rolled-back');
  await rename(data, `${data}.away`);
  await rename(`${data}.other`, data);
  expect(await once('BACK9', 'NEXT9')).toContain('ledger-rolled-back');
  expect([...place.stored().values()]).toEqual([1, 1, 1, 1]);
});
