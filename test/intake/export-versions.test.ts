import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Config, ExportSource } from '../../src/config/config.ts';
import { systemClock } from '../../src/core/clock.ts';
import { PoSyncError } from '../../src/core/errors.ts';
import { claimReadable, STILL_UNREADABLE } from '../../src/intake/export.ts';
import {
  type CopiedFile,
  createExportVersions,
  shownSince,
} from '../../src/intake/export-versions.ts';
import { storedValidators } from '../../src/intake/web-export.ts';
import type { Batch } from '../../src/ledger/batches/batches.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { configOf, LEAST } from '../support/config-text.ts';
import { exportSource } from '../support/inbox-source.ts';
import { journalsInMemory } from '../support/journals-in-memory.ts';
import { API_COLUMNS, mappingOf } from '../support/mapping-of.ts';
import { openDatabase } from '../support/shared-redis.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

async function openVersions() {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await makeTempFolder());
  const redis = await connectRedis(await openDatabase());
  stack.defer(() => redis.disconnect());
  const keys = keysOf('staging');
  const begun = new Map<string, Partial<Batch>>();
  const held = new Set<string>();
  let now = 1_000_000;
  let isBehind = false;
  const batches = {
    find: async (batch: string) => begun.get(batch) as Batch | undefined,
    isHeld: async (batch: string) => held.has(batch),
    epoch: () => 'now',
    isBehind: async () => isBehind,
  };
  const versions = (menge = 'MENGE', more: Partial<ExportSource> = {}) => {
    const mappings: Config['mappings'] = {
      erp: mappingOf({
        columns: { ...API_COLUMNS, quantity: 'ignore', [menge]: { is: 'quantity' } },
      }),
    };
    const config = { sources: [exportSource('/erp.csv', { mapping: 'erp', ...more })], mappings };
    const validatorsOf = (source: ExportSource) =>
      storedValidators(source, { config, redis, keys });
    return {
      ...createExportVersions({
        config: { ...configOf(LEAST).config, ...config },
        redis,
        keys,
        batches,
        time: { now: () => now },
        owner: 'test',
        clock: systemClock,
        journals: journalsInMemory(),
      }),
      validatorsOf,
    };
  };
  const copy = (batch: string, content = 'a'): CopiedFile => ({
    batch,
    source: 'erp',
    kind: 'export',
    name: 'erp.csv',
    path: path.join(folder.path, batch, 'erp.csv'),
    draft: path.join(folder.path, batch, '.part'),
    sha256: content,
    bytes: 1,
  });
  const kept = stack.move();
  return {
    redis,
    keys,
    versions,
    copy,
    begun,
    held,
    pass: (ms: number) => (now += ms),
    lose: (is: boolean) => (isBehind = is),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

describe('a version of an export', () => {
  test('is theirs only while the daemon that claimed it reads it or is about to', async () => {
    await using it = await openVersions();
    const [first, second] = [it.versions(), it.versions()];
    expect(await second.isTheirs(it.copy('b2'))).toBe(false);
    expect(await first.claim(it.copy('b1'))).toBe('new');
    expect(await second.isTheirs(it.copy('b2'))).toBe(true);
    expect(await second.isTheirs(it.copy('b2', 'other'))).toBe(false);
    it.held.add('b1');
    it.pass(60_000);
    expect(await second.isTheirs(it.copy('b2'))).toBe(true);
    it.held.clear();
    expect(await second.isTheirs(it.copy('b2'))).toBe(false);
  });

  test('of a file is not that of a file whose name is longer', async () => {
    await using it = await openVersions();
    const daemon = it.versions();
    const named = (name: string) => ({ ...it.copy(name), name });
    for (const name of ['erp', 'erp#claim', 'erp#unreadable'])
      expect(await daemon.claim(named(name))).toBe('new');
    for (const name of ['erp#claim', 'erp#unreadable', 'erp'])
      await daemon.wasRead(named(name), 'a', true);
    for (const name of ['erp', 'erp#claim', 'erp#unreadable'])
      expect(await daemon.claim(named(name))).toBe('unchanged');
  });

  test('is given to one of several daemons, and is unchanged for all of them once it was read', async () => {
    await using it = await openVersions();
    const daemons = Array.from({ length: 8 }, () => it.versions());
    const verdicts = await Promise.all(daemons.map((daemon, i) => daemon.claim(it.copy(`b${i}`))));
    expect(verdicts.toSorted()).toEqual(['new', ...Array(7).fill('theirs')]);
    await daemons[0]?.wasRead(it.copy(`b${verdicts.indexOf('new')}`), 'a', true);
    for (const daemon of daemons) expect(await daemon.claim(it.copy('later'))).toBe('unchanged');
    expect(await daemons[1]?.claim(it.copy('other', 'b'))).toBe('new');
  });

  test('is left to a daemon that reads it or whose copy is there, and claimed again when both are gone', async () => {
    await using it = await openVersions();
    const [one, two] = [it.versions(), it.versions()];
    const first = it.copy('first');
    expect(await one.claim(first)).toBe('new');
    expect(await two.claim(it.copy('second'))).toBe('theirs');
    it.pass(60_000);
    await mkdir(path.dirname(first.path));
    await writeFile(first.path, 'a');
    expect(await two.claim(it.copy('second'))).toBe('theirs');
    await rm(first.path);
    it.begun.set('first', { state: 'reading' });
    it.held.add('first');
    expect(await two.claim(it.copy('second'))).toBe('theirs');
    it.held.delete('first');
    expect(await two.claim(it.copy('second'))).toBe('new');
    it.begun.set('second', { state: 'open' });
    expect(await one.claim(it.copy('third'))).toBe('unchanged');
  });

  test('that cannot be read waits while the one before it is read, and is refused when that cannot be read either', async () => {
    await using it = await openVersions();
    const daemon = it.versions();
    const fault = new PoSyncError('unreadable-foreign', 'It is a web page.');
    const claim = (name: string, found?: PoSyncError) =>
      claimReadable(it.copy(name, name), daemon, async () => found);
    expect(await claim('first', fault)).toBe('new');
    expect(await claim('second', fault)).toBe('theirs');
    it.begun.set('first', { state: 'reading' });
    it.held.add('first');
    expect(await claim('second', fault)).toBe('theirs');
    it.begun.set('first', {
      state: 'done',
      turnedAway: { error: { code: fault.code, message: '' }, bytes: 1, sha256: 'a' },
    });
    await expect(claim('second', fault)).rejects.toMatchObject({ code: STILL_UNREADABLE });
    expect(await claim('third')).toBe('new');
    const wait = { code: 'ledger', facts: { claimedAt: '' } } as const;
    it.begun.set('third', { state: 'reading', held: { ...wait, since: 1 } });
    expect(await claim('fourth', fault)).toBe('new');
  });

  test('is not taken while Redis lacks what the reports know of it', async () => {
    await using it = await openVersions();
    await it.redis.hset(it.keys.identity, 'succeeds', 'before ');
    const daemon = it.versions();
    for (const recalled of [undefined, 'before']) {
      if (recalled) await it.redis.hset(it.keys.identity, 'recalled', recalled);
      expect(await daemon.claim(it.copy('first'))).toBe('theirs');
      expect(await daemon.isTheirs(it.copy('first'))).toBe(true);
    }
    await it.redis.hset(it.keys.identity, 'recalled', 'now');
    expect(await daemon.claim(it.copy('first'))).toBe('new');
  });

  test('is not taken while Redis lost changes and no daemon has noticed that', async () => {
    await using it = await openVersions();
    const daemon = it.versions();
    it.lose(true);
    expect(await daemon.claim(it.copy('first'))).toBe('theirs');
    it.lose(false);
    expect(await daemon.claim(it.copy('first'))).toBe('new');
  });

  test('is read again by another mapping, also from an address whose server has nothing newer', async () => {
    await using it = await openVersions();
    const before = it.versions();
    const source = exportSource('https://erp.example.com/erp.csv');
    expect(await before.claim(it.copy('first'))).toBe('new');
    await before.wasRead(it.copy('first'), 'a', true);
    await before.validatorsOf(source).keep({ etag: '"1"' });
    expect(await it.versions().claim(it.copy('second'))).toBe('unchanged');
    expect(await it.versions().validatorsOf(source).recall()).toEqual({ etag: '"1"' });

    const after = it.versions('QTY');
    expect(await after.claim(it.copy('second'))).toBe('new');
    expect(await after.validatorsOf(source).recall()).toBeUndefined();
    await after.wasRead(it.copy('second'), 'a', true);
    expect(await after.claim(it.copy('third'))).toBe('unchanged');
  });
});

describe('a version of a source with newestOnly', () => {
  const MINUTE = 60_000;
  const ERP = { path: '/erp/PO_*.csv', newestOnly: true };

  /** `of(name, minute)`: a copy of a file that changed last in a minute since 1970. */
  async function openNewest() {
    const it = await openVersions();
    const of = (name: string, minute: number): CopiedFile => ({
      ...it.copy(`${name}@${minute}`, `${name}@${minute}`),
      name,
      mtimeNs: BigInt(minute * MINUTE) * 1_000_000n,
    });
    const daemon = (menge = 'MENGE', more: Partial<ExportSource> = {}) =>
      it.versions(menge, { ...ERP, ...more });
    it.pass(1_000 * MINUTE);
    return { ...it, of, daemon };
  }

  test('is older once a newer file was claimed, also for another daemon and when that file is gone', async () => {
    await using it = await openNewest();
    expect(await it.daemon().claim(it.of('PO_1.csv', 10))).toBe('new');
    expect(await it.daemon().claim(it.of('PO_2.csv', 20))).toBe('new');
    expect(await it.daemon().claim(it.of('PO_3.csv', 19))).toBe('older');
    expect(await it.daemon().claim(it.of('PO_1.csv', 15))).toBe('older');
    expect(await it.daemon().claim(it.of('PO_1.csv', 21))).toBe('new');
  });

  test('of files with one time, the last by name counts', async () => {
    await using it = await openNewest();
    expect(await it.daemon().claim(it.of('PO_2.csv', 10))).toBe('new');
    expect(await it.daemon().claim(it.of('PO_1.csv', 10))).toBe('older');
    expect(await it.daemon().claim(it.of('PO_3.csv', 10))).toBe('new');
  });

  test('is older than a file that was written again with the content that was read', async () => {
    await using it = await openNewest();
    const first = it.of('PO_1.csv', 10);
    expect(await it.daemon().claim(first)).toBe('new');
    await it.daemon().wasRead(first, first.sha256, true);
    expect(await it.daemon().claim({ ...first, mtimeNs: it.of('', 20).mtimeNs ?? 0n })).toBe(
      'unchanged',
    );
    expect(await it.daemon().claim(it.of('PO_2.csv', 15))).toBe('older');
  });

  test('is read again by another mapping only if it is the newest', async () => {
    await using it = await openNewest();
    const [first, second] = [it.of('PO_1.csv', 10), it.of('PO_2.csv', 20)];
    for (const copy of [first, second]) {
      expect(await it.daemon().claim(copy)).toBe('new');
      await it.daemon().wasRead(copy, copy.sha256, true);
    }
    expect(await it.daemon('QTY').claim(first)).toBe('older');
    expect(await it.daemon('QTY').claim(second)).toBe('new');
  });

  test('is compared with files of the same pattern only', async () => {
    await using it = await openNewest();
    expect(
      await it.daemon('MENGE', { path: '/first/three_*.csv' }).claim(it.of('three_1.csv', 20)),
    ).toBe('new');
    expect(await it.daemon().claim(it.of('PO_1.csv', 10))).toBe('new');
  });

  test('with a time in the future makes no file older that is written after it was claimed', async () => {
    await using it = await openNewest();
    expect(await it.daemon().claim(it.of('PO_1.csv', 900_000))).toBe('new');
    it.pass(10 * MINUTE);
    expect(await it.daemon().claim(it.of('PO_2.csv', 1_010))).toBe('older');
    it.pass(10 * MINUTE);
    expect(await it.daemon().claim(it.of('PO_3.csv', 1_025))).toBe('new');
  });

  test('is claimed by one of several daemons that look at different files at once, and never after a newer one', async () => {
    await using it = await openNewest();
    const verdicts = await Promise.all(
      Array.from({ length: 10 }, (_, i) => it.daemon().claim(it.of(`PO_${i}.csv`, i + 1))),
    );
    expect(verdicts).toContain('new');
    const newest = verdicts.lastIndexOf('new');
    expect(await it.daemon().claim(it.of('PO_x.csv', newest))).toBe('older');
  });
});

test('each file of a pattern that is still there shows its orders since it was claimed', async () => {
  await using it = await openVersions();
  await using folder = await makeTempFolder();
  const pattern = path.join(folder.path, 'PO_*.csv');
  const shown = (file: string, at: number) =>
    it.redis.hset(it.keys.exports, `erp/${file}//shown`, at);
  await shown('PO_gone.csv', 1);
  await shown('PO_old.csv', 2);
  await shown('PO_new.csv', 3);
  const since = (more: Partial<ExportSource>) =>
    shownSince({ sources: [exportSource(pattern, more)] }, it);

  expect(await since({})).toBe(1);
  await writeFile(path.join(folder.path, 'PO_old.csv'), '');
  await writeFile(path.join(folder.path, 'PO_new.csv'), '');
  expect(await since({})).toBe(2);
  expect(await since({ newestOnly: true })).toBe(3);
  expect(await since({ path: path.join(folder.path, 'PO_new.csv') })).toBe(3);
  expect(await since({ name: 'other' })).toBe(Number.POSITIVE_INFINITY);
});

test('a version that waits or cannot be read shows nothing: the one before it counts', async () => {
  await using it = await openVersions();
  const daemon = it.versions();
  const since = () => shownSince({ sources: [exportSource('/erp.csv')] }, it);
  await daemon.claim(it.copy('b1', 'a'));
  const first = 1_000_000;
  expect(await since()).toBe(Number.POSITIVE_INFINITY);
  await daemon.wasRead(it.copy('b1', 'a'), 'a', true);
  expect(await since()).toBe(first);

  it.pass(60_000);
  await daemon.claim(it.copy('b2', 'b'));
  expect(await since()).toBe(first);
  await daemon.wasRead(it.copy('b2', 'b'), 'b', false);
  expect(await since()).toBe(first);

  it.pass(60_000);
  await daemon.claim(it.copy('b3', 'c'));
  await daemon.wasRead(it.copy('b3', 'c'), 'c', true);
  expect(await since()).toBe(first + 120_000);
});
