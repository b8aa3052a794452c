import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { environmentOf, markInbox } from '../../src/intake/environment-marker.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

test('an inbox belongs to the first environment that marks it', async () => {
  await using folder = await makeTempFolder();
  await markInbox(folder.path, 'staging');
  await markInbox(folder.path, 'staging');
  await expect(markInbox(folder.path, 'production')).rejects.toMatchObject({
    code: 'inbox-of-another-environment',
    message: expect.stringContaining('belongs to the environment staging'),
  });
  expect(await environmentOf(folder.path)).toBe('staging');
});

test('exactly one of several concurrent environments gets an inbox', async () => {
  await using folder = await makeTempFolder();
  for (let round = 0; round < 20; round++) {
    const inbox = path.join(folder.path, String(round));
    await mkdir(inbox);
    const results = await Promise.allSettled(['a', 'b', 'c', 'd'].map((name) => markInbox(inbox, name)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  }
});

test('a missing folder and a plain file are refused with a remedy', async () => {
  await using folder = await makeTempFolder();
  const missing = path.join(folder.path, 'inbox');
  await expect(markInbox(missing, 'staging')).rejects.toMatchObject({
    code: 'folder-missing',
    remedy: expect.stringContaining('mkdir -p'),
  });
  await writeFile(missing, '');
  await expect(markInbox(missing, 'staging')).rejects.toMatchObject({ code: 'folder-missing' });
  await rm(missing);
  expect(await environmentOf(missing)).toBeUndefined();
});
