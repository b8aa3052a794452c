import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { makeTempFolder } from '../support/temp-folder.ts';

const CLAIM_ALL = path.join(import.meta.dirname, 'claim-all.program.ts');

test('exactly one of several processes gets each file', async () => {
  await using folder = await makeTempFolder();
  const names = Array.from({ length: 300 }, (_, i) => `${i}.csv`);
  await Promise.all(names.map((name) => writeFile(path.join(folder.path, name), name)));
  const claimers = [1, 2, 3].map(() => fork(CLAIM_ALL, [folder.path], { execArgv: [] }));
  await Promise.all(claimers.map((child) => once(child, 'message')));
  for (const child of claimers) child.send('go');
  const claimed = await Promise.all(claimers.map(claimedBy));
  expect(claimed.flat().sort()).toEqual(names.toSorted());
  expect(claimed.filter((some) => some.length > 0).length).toBeGreaterThan(1);
  expect(await readdir(path.join(folder.path, 'processing'))).toHaveLength(names.length);
});

async function claimedBy(child: ChildProcess): Promise<string[]> {
  const [message]: unknown[] = await once(child, 'message');
  await once(child, 'exit');
  return Array.isArray(message) ? message.map(String) : [];
}
