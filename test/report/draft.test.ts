import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openDraft } from '../../src/report/draft.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { watchSyncs } from '../support/watch-syncs.ts';

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
beforeEach(async () => {
  temp = await makeTempFolder();
});
afterEach(() => temp[Symbol.asyncDispose]());

it('a draft has no file under its name before it is published', async () => {
  const path = join(temp.path, 'a.txt');
  await using draft = await openDraft(path);
  await draft.write('one');
  await draft.seal();
  expect(await readdir(temp.path)).not.toContain('a.txt');
  await draft.publish();
  expect(await readdir(temp.path)).toEqual(['a.txt']);
});

it('text and bytes are written in sequence, independent of their sizes', async () => {
  const path = join(temp.path, 'a.txt');
  await using draft = await openDraft(path);
  const pieces = Array.from({ length: 500 }, (_, index) => `${index}ä`.repeat(index));
  for (const [index, piece] of pieces.entries())
    await draft.write(index % 2 === 0 ? piece : Buffer.from(piece));
  await draft.publish();
  expect(await readFile(path, 'utf8')).toBe(pieces.join(''));
});

it('a draft replaces the earlier file', async () => {
  const path = join(temp.path, 'a.txt');
  for (const text of ['long first text', 'second']) {
    await using draft = await openDraft(path);
    await draft.write(text);
    await draft.publish();
  }
  expect(await readFile(path, 'utf8')).toBe('second');
});

it.each(['open', 'sealed', 'not publishable'])(
  'a draft disposed while %s leaves nothing behind',
  async (state) => {
    const path = join(temp.path, 'a');
    if (state === 'not publishable') await mkdir(join(path, 'full'), { recursive: true });
    {
      await using draft = await openDraft(path);
      await draft.write('text');
      if (state === 'sealed') await draft.seal();
      if (state === 'not publishable')
        await expect(draft.publish()).rejects.toMatchObject({ code: 'report-not-written' });
    }
    expect(await readdir(temp.path)).toEqual(state === 'not publishable' ? ['a'] : []);
  },
);

it('two writers of one file each publish a complete file', async () => {
  const path = join(temp.path, 'a.txt');
  await using one = await openDraft(path);
  await using other = await openDraft(path);
  await one.write('one'.repeat(50_000));
  await other.write('two'.repeat(60_000));
  await Promise.all([one.publish(), other.publish()]);
  expect(['one'.repeat(50_000), 'two'.repeat(60_000)]).toContain(await readFile(path, 'utf8'));
});

it('a draft is durable before it gets its name, and then its folder is', async () => {
  await using syncs = await watchSyncs();
  await using draft = await openDraft(join(temp.path, 'a.txt'));
  await draft.write('one');
  await draft.publish();
  expect(syncs.paths).toEqual([expect.stringMatching(/\.tmp$/), temp.path]);
});

it('no draft is opened in a folder that is a link', async () => {
  const elsewhere = join(temp.path, 'elsewhere');
  await mkdir(elsewhere);
  await symlink(elsewhere, join(temp.path, 'report'));
  await expect(openDraft(join(temp.path, 'report', 'report.json'))).rejects.toMatchObject({
    code: 'folder-is-link',
  });
  expect(await readdir(elsewhere)).toEqual([]);
});
