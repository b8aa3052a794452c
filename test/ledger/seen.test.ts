import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSeen, seenPair } from '../../src/ledger/seen.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { lookForReport } from '../../src/report/report.ts';
import { openTestRedis } from '../support/open-redis.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const keys = keysOf('test');
const place = { batch: 'b9', mapping: 'm1', at: 0 };
const rows = { number: 'PO-1', rows: 'row-digest' };
const valid = { ...rows, digest: 'sent-digest' };

describe('content that needed a person', () => {
  let opened: Awaited<ReturnType<typeof openTestRedis>>;
  beforeAll(async () => {
    opened = await openTestRedis();
  });
  afterAll(async () => opened[Symbol.asyncDispose]());
  beforeEach(async () => {
    await opened.redis.flushdb();
    for (const batch of ['b1', 'b2'])
      await opened.redis.hset(keys.batch(batch), 'state', 'reading');
  });

  const seen = (reports = '') =>
    createSeen({ redis: opened.redis, keys, hasReport: lookForReport(reports) });
  const store = (digest: string, mapping = '', batch = 'b1') =>
    opened.redis.hset(
      keys.seen,
      ...seenPair({ number: 'PO-1', digest, mapping }, { batch, ordinal: 0, at: 0 }, keys.keyOf),
    );
  const close = (batch: string, closing: object) =>
    opened.redis.hset(keys.closed(batch), '0', JSON.stringify({ number: 'PO-1', ...closing }));
  const find = async (content: typeof rows, on = place) => (await seen().find([content], on))[0];

  it('stays with its open dead letter, but is judged anew by another mapping, or where it passes now', async () => {
    await store('row-digest', 'm1');
    const letter = { letter: 'b1-0', is: 'open' };
    expect(await find(rows)).toEqual(letter);
    expect(await find(rows, { ...place, mapping: 'm2' })).toBeUndefined();
    expect(await find(valid)).toBeUndefined();
    await store('sent-digest', '', 'b2');
    expect(await find(valid)).toEqual({ letter: 'b2-0', is: 'open' });
  });

  it('that a person settled never comes back, by whatever mapping', async () => {
    await store('row-digest', 'm1');
    await close('b1', { by: 'discarded' });
    const settled = { letter: 'b1-0', is: 'settled' };
    for (const one of [rows, valid])
      for (const mapping of ['m1', 'm2'])
        expect(await find(one, { ...place, mapping })).toEqual(settled);
  });

  it('is in the dead letter that replaced its own', async () => {
    await store('sent-digest');
    await close('b1', { by: 'replaced', successor: 'b2-0' });
    expect(await find(valid)).toEqual({ letter: 'b2-0', is: 'open' });
    await close('b2', { by: 'accepted' });
    expect(await find(valid)).toEqual({ letter: 'b2-0', is: 'settled' });
  });

  it('of the batch itself is what a person settled in it, and not what it shows again after a crash', async () => {
    await store('sent-digest');
    expect(await find(valid, { ...place, batch: 'b1' })).toBeUndefined();
    await close('b1', { by: 'discarded' });
    expect(await find(valid, { ...place, batch: 'b1' })).toEqual({ letter: 'b1-0', is: 'settled' });
  });

  it('is lost with the report that has its rows, unless the folder itself is away', async () => {
    await using folder = await makeTempFolder();
    await store('sent-digest');
    const lost = (reports: string) => seen(reports).find([valid], place);
    expect(await lost(folder.path)).toEqual([{ letter: 'b1-0', is: 'open' }]);
    await opened.redis.hset(keys.batch('b1'), 'state', 'done');
    expect(await lost(folder.path)).toEqual([{ letter: 'b1-0', is: 'lost' }]);
    expect(await lost(`${folder.path}/away`)).toEqual([{ letter: 'b1-0', is: 'open' }]);
  });

  it('in another spelling of the number is other content', async () => {
    await store('sent-digest');
    expect(await find({ ...valid, number: 'po-1' })).toBeUndefined();
  });

  it('is forgotten once nothing showed it for long', async () => {
    await store('sent-digest');
    await store('row-digest');
    await find(rows, { ...place, at: 9 * 86_400_000 });
    await seen().forget(9 * 86_400_000);
    expect(await find(rows)).toEqual({ letter: 'b1-0', is: 'open' });
    expect(await opened.redis.hlen(keys.seen)).toBe(1);
  });
});
