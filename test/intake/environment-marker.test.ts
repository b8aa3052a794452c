import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import {
  environmentOf,
  markInbox,
  markLedger,
  renewLedger,
} from '../../src/intake/environment-marker.ts';
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
    const results = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((name) => markInbox(inbox, name)),
    );
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

test('an inbox belongs to the first ledger that marks it; the host and folder that marked it may begin anew', async () => {
  await using folder = await makeTempFolder();
  const first = { ledger: 'a', host: 'one', data: '/srv/data' };
  await markLedger(folder.path, first);
  await markLedger(folder.path, { ...first, host: 'two' });
  await expect(
    markLedger(folder.path, { ...first, host: 'two', ledger: 'b' }),
  ).rejects.toMatchObject({
    code: 'inbox-of-another-ledger',
    message: expect.stringContaining('belongs to the ledger of /srv/data on one'),
    remedy: expect.stringContaining('set redis.url'),
  });
  await expect(
    markLedger(folder.path, { ledger: 'b', host: 'one', data: '/srv/new' }),
  ).rejects.toMatchObject({
    remedy: expect.stringMatching(
      /^If this is the same po-sync, set data back to \/srv\/data, or move that folder to \/srv\/new\. All/,
    ),
  });
  // The marker names the one before until the new one knows of it.
  const next = { ...first, ledger: 'c' };
  expect([await markLedger(folder.path, next), await markLedger(folder.path, next)]).toEqual([
    'a',
    'a',
  ]);
  await renewLedger(folder.path, { ...next, host: 'two' });
  expect(await markLedger(folder.path, next)).toBe('a');
  await renewLedger(folder.path, next);
  expect(await markLedger(folder.path, next)).toBeUndefined();
  await expect(markLedger(folder.path, { ...first, host: 'two' })).rejects.toThrow(
    'belongs to the ledger',
  );
  await writeFile(path.join(folder.path, '.po-sync-ledger'), 'no marker');
  await expect(markLedger(folder.path, first)).rejects.toMatchObject({
    code: 'environment-marker-invalid',
  });
});
