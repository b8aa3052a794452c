import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import {
  environmentOf,
  foreignOwner,
  markInbox,
  renewMarker,
} from '../../src/intake/environment-marker.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const OWN = { environment: 'staging', ledger: 'a', host: 'one', data: '/srv/data' };

test('an inbox belongs to the first environment that marks it', async () => {
  await using folder = await makeTempFolder();
  await markInbox(folder.path, OWN);
  await markInbox(folder.path, OWN);
  await expect(markInbox(folder.path, { ...OWN, environment: 'production' })).rejects.toMatchObject(
    {
      code: 'inbox-of-another-environment',
      message: expect.stringContaining('belongs to the environment staging'),
    },
  );
  expect(await environmentOf(folder.path)).toBe('staging');
});

test.each(['environment', 'ledger'])(
  'exactly one of several concurrent daemons of another %s gets an inbox',
  async (key) => {
    await using folder = await makeTempFolder();
    for (let round = 0; round < 20; round++) {
      const inbox = path.join(folder.path, String(round));
      await mkdir(inbox);
      const results = await Promise.allSettled(
        ['a', 'b', 'c', 'd'].map((one) => markInbox(inbox, { ...OWN, host: one, [key]: one })),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    }
  },
);

test('a missing folder and a plain file are refused with a remedy', async () => {
  await using folder = await makeTempFolder();
  const missing = path.join(folder.path, 'inbox');
  await expect(markInbox(missing, OWN)).rejects.toMatchObject({
    code: 'folder-missing',
    remedy: expect.stringContaining('mkdir -p'),
  });
  await writeFile(missing, '');
  await expect(markInbox(missing, OWN)).rejects.toMatchObject({ code: 'folder-missing' });
  await rm(missing);
  expect(await environmentOf(missing)).toBeUndefined();
});

test('an inbox belongs to the first ledger that marks it; the host and folder that marked it may begin anew', async () => {
  await using folder = await makeTempFolder();
  await markInbox(folder.path, OWN);
  expect(await markInbox(folder.path, { ...OWN, host: 'two' })).toBeUndefined();
  const other = { ...OWN, host: 'two', ledger: 'b' };
  const refusal = {
    code: 'inbox-of-another-ledger',
    message: expect.stringContaining('belongs to the ledger of /srv/data on one'),
    remedy: expect.stringContaining('set redis.url'),
  };
  await expect(markInbox(folder.path, other)).rejects.toMatchObject(refusal);
  expect(await foreignOwner(folder.path, other)).toMatchObject(refusal);
  await expect(
    markInbox(folder.path, { ...OWN, ledger: 'b', data: '/srv/new' }),
  ).rejects.toMatchObject({
    remedy: expect.stringMatching(
      /^If this is the same po-sync, set data back to \/srv\/data, or move that folder to \/srv\/new\. All/,
    ),
  });
  // The marker names the one before until the new one knows of it.
  const next = { ...OWN, ledger: 'c' };
  expect([await markInbox(folder.path, next), await markInbox(folder.path, next)]).toEqual([
    'a',
    'a',
  ]);
  await renewMarker(folder.path, { ...next, host: 'two' });
  expect(await markInbox(folder.path, next)).toBe('a');
  await renewMarker(folder.path, next);
  expect(await markInbox(folder.path, next)).toBeUndefined();
  await expect(markInbox(folder.path, { ...OWN, host: 'two' })).rejects.toThrow(
    'belongs to the ledger',
  );
});
