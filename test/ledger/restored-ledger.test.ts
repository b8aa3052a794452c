import { copyFile, link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCheckpointFile, createIdentity } from '../../src/ledger/identity.ts';
import { type OpenRedis, openTestRedis } from '../support/open-redis.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

describe('a ledger that was restored together with its checkpoint', () => {
  let stack: AsyncDisposableStack;
  let store: OpenRedis;
  let folder: string;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    store = stack.use(await openTestRedis());
    await store.redis.flushall();
    folder = stack.use(await makeTempFolder()).path;
  });
  afterEach(() => stack.disposeAsync());

  /** A daemon whose Redis keeps its data beside its checkpoint, as the private one does. */
  const beside = (name = 'shared') =>
    createIdentity({
      ...store,
      wait: 0,
      checkpoint: createCheckpointFile(path.join(folder, `${name}.json`), { isBesideRedis: true }),
    });

  async function change(identity: ReturnType<typeof beside>, times: number): Promise<void> {
    for (let i = 0; i < times; i += 1) identity.saw(await store.redis.hincrby(store.keys.identity, 'sequence', 1));
  }

  /** Makes a backup, a later change, and the restore of Redis. */
  async function restored(backUp: (file: string, backup: string) => Promise<void>) {
    const running = beside();
    await running.establish();
    await change(running, 3);
    const before = await store.redis.hgetall(store.keys.identity);
    await running.store();
    const [file, backup] = [path.join(folder, 'shared.json'), path.join(folder, 'backup.json')];
    await backUp(file, backup);
    await change(running, 3);
    await running.store();
    await store.redis.hset(store.keys.identity, before);
    return { running, file, backup };
  }

  it('is noticed where the file is a copy, once, by the first of its daemons', async () => {
    const { file, backup } = await restored(copyFile);
    await rm(file);
    await copyFile(backup, file);
    const [one, two] = [beside(), beside()];
    expect([await one.establish(), await two.establish()]).toEqual(['copied', 'same']);
    expect(await store.redis.hget(store.keys.rebuild, 'why')).toBe('rolled-back');
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
      ...store,
      wait: 0,
      checkpoint: { ...createCheckpointFile(file, { isBesideRedis: true }), write: async () => {} },
    });
    expect(await interrupted.establish()).toBe('copied');
    expect((await stat(file)).ino).toBe(copy.ino);
    expect(await beside().establish()).toBe('same');
    expect(await store.redis.hget(store.keys.rebuild, 'why')).toBe('rolled-back');
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
    await rename(file, path.join(folder, 'moved.json'));
    expect(await beside('moved').establish()).toBe('same');
  });

  it('is not noticed where Redis keeps its data elsewhere: it was not copied', async () => {
    const { running, file } = await restored(copyFile);
    await running.establish();
    const copy = path.join(folder, 'copy.json');
    await copyFile(file, copy);
    const checkpoint = createCheckpointFile(copy);
    expect(await createIdentity({ ...store, wait: 0, checkpoint }).establish()).toBe('same');
  });
});
