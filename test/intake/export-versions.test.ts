import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Config, ExportSource } from '../../src/config/config.ts';
import { mappingSchema } from '../../src/config/mapping-schema.ts';
import { type CopiedFile, createExportVersions } from '../../src/intake/export-versions.ts';
import { storedValidators } from '../../src/intake/web-export.ts';
import type { Batch } from '../../src/ledger/batches/batches.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { exportSource } from '../support/inbox-source.ts';
import { openDatabase } from '../support/shared-redis.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

async function openVersions() {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await makeTempFolder());
  const redis = await connectRedis(await openDatabase());
  stack.defer(() => redis.disconnect());
  const keys = keysOf('staging', '');
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
  const versions = (menge = 'MENGE') => {
    const mappings: Config['mappings'] = { erp: mappingSchema.parse({ fields: { quantity: menge } }) };
    const config = { sources: [exportSource('/erp.csv', { mapping: 'erp' })], mappings };
    const validatorsOf = (source: ExportSource) => storedValidators(source, { config, redis, keys });
    return { ...createExportVersions({ config, redis, keys, batches, time: { now: () => now } }), validatorsOf };
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
    for (const name of ['erp', 'erp#claim', 'erp#mapping']) expect(await daemon.claim(named(name))).toBe('new');
    for (const name of ['erp#claim', 'erp#mapping', 'erp']) await daemon.wasRead(named(name), 'a');
    for (const name of ['erp', 'erp#claim', 'erp#mapping']) expect(await daemon.claim(named(name))).toBe('unchanged');
  });

  test('is given to one of several daemons, and is unchanged for all of them once it was read', async () => {
    await using it = await openVersions();
    const daemons = Array.from({ length: 8 }, () => it.versions());
    const verdicts = await Promise.all(daemons.map((daemon, i) => daemon.claim(it.copy(`b${i}`))));
    expect(verdicts.toSorted()).toEqual(['new', ...Array(7).fill('theirs')]);
    await daemons[0]?.wasRead(it.copy(`b${verdicts.indexOf('new')}`), 'a');
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

  test('is not taken while Redis lacks what the reports know of it', async () => {
    await using it = await openVersions();
    await it.redis.hset(it.keys.identity, 'succeeds', 'before ');
    const daemon = it.versions();
    for (const recalled of [undefined, 'before']) {
      if (recalled) await it.redis.set(it.keys.recalled, recalled);
      expect(await daemon.claim(it.copy('first'))).toBe('theirs');
      expect(await daemon.isTheirs(it.copy('first'))).toBe(true);
    }
    await it.redis.set(it.keys.recalled, 'now');
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
    await before.wasRead(it.copy('first'), 'a');
    await before.validatorsOf(source).keep({ etag: '"1"' });
    expect(await it.versions().claim(it.copy('second'))).toBe('unchanged');
    expect(await it.versions().validatorsOf(source).recall()).toEqual({ etag: '"1"' });

    const after = it.versions('QTY');
    expect(await after.claim(it.copy('second'))).toBe('new');
    expect(await after.validatorsOf(source).recall()).toBeUndefined();
    await after.wasRead(it.copy('second'), 'a');
    expect(await after.claim(it.copy('third'))).toBe('unchanged');
  });
});
