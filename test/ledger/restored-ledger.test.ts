import { copyFile, link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createCheckpointFile, createIdentity } from '../../src/ledger/identity.ts';
import { useLedgerPlace } from '../support/ledger-place.ts';

describe('a ledger that was restored together with its checkpoint', () => {
  const place = useLedgerPlace();
  const { change } = place;

  /** A daemon whose Redis keeps its data beside its checkpoint, as the private one does. */
  const beside = (name?: string) => place.daemon(name, { isBesideRedis: true });

  /** Makes a backup, a later change, and the restore of Redis. */
  async function restored(backUp: (file: string, backup: string) => Promise<void>) {
    const running = beside();
    await running.establish();
    await change(running, 3);
    const before = await place.store.redis.hgetall(place.store.keys.identity);
    await running.store();
    const [file, backup] = [place.at('shared.json'), place.at('backup.json')];
    await backUp(file, backup);
    await change(running, 3);
    await running.store();
    await place.store.redis.hset(place.store.keys.identity, before);
    return { running, file, backup };
  }

  it('is noticed where the file is a copy, once, by the first of its daemons', async () => {
    const { file, backup } = await restored(copyFile);
    await rm(file);
    await copyFile(backup, file);
    const [one, two] = [beside(), beside()];
    expect([await one.establish(), await two.establish()]).toEqual(['copied', 'same']);
    expect(await place.store.redis.hget(place.store.keys.rebuild, 'why')).toBe('rolled-back');
    expect(await beside().establish()).toBe('same');
  });

  it('is noticed where the copy was written into the file that was there', async () => {
    const { file, backup } = await restored(copyFile);
    await writeFile(file, await readFile(backup));
    expect(await beside().establish()).toBe('copied');
  });

  it('begins one epoch, also when the process ends before it is remembered', async () => {
    const { file, backup } = await restored(copyFile);
    await writeFile(file, await readFile(backup));
    const copy = await stat(file);
    const interrupted = createIdentity({
      ...place.store,
      wait: 0,
      checkpoint: { ...createCheckpointFile(file, { isBesideRedis: true }), write: async () => {} },
    });
    expect(await interrupted.establish()).toBe('copied');
    expect((await stat(file)).ino).toBe(copy.ino);
    expect(await beside().establish()).toBe('same');
    expect(await place.store.redis.hget(place.store.keys.rebuild, 'why')).toBe('rolled-back');
  });

  it('is not noticed where the disk itself is restored, except by a daemon that ran meanwhile', async () => {
    const { running, file, backup } = await restored(link);
    await rename(backup, file);
    expect(await beside().establish()).toBe('same');
    expect(await running.establish()).toBe('rolled-back');
  });

  it('is no copy after it was renamed', async () => {
    const { running, file } = await restored(copyFile);
    await running.establish();
    await rename(file, place.at('moved.json'));
    expect(await beside('moved').establish()).toBe('same');
  });

  it('is not noticed where Redis keeps its data elsewhere: it was not copied', async () => {
    const { running, file } = await restored(copyFile);
    await running.establish();
    await copyFile(file, place.at('copy.json'));
    expect(await place.daemon('copy').establish()).toBe('same');
  });
});
