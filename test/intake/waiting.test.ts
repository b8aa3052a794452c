import { stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { namesToTake, waitingFiles } from '../../src/intake/waiting.ts';
import { inboxSource, lacksWith } from '../support/inbox-source.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const STABLE = 2_000;
const COMPLETE = 'purchaseOrderNumber,articleCode,quantity\n1,A,1\n';

/** What is said of the files of an inbox so many milliseconds after the last of them changed. */
async function look(files: Record<string, string>, after: number, doneFile = false) {
  await using folder = await makeTempFolder();
  let now = 0;
  for (const [name, content] of Object.entries(files)) {
    await writeFile(path.join(folder.path, name), content);
    now = Math.max(now, (await stat(path.join(folder.path, name))).ctimeMs);
  }
  const source = inboxSource(folder.path, { doneFile, stable: STABLE });
  return await waitingFiles(source, await namesToTake(source), {
    now: now + after,
    lacks: lacksWith(),
  });
}

it.each([
  ['a file that changed a moment ago', COMPLETE, STABLE - 1, 'it is still changing'],
  [
    'a stable file without an end',
    COMPLETE.trimEnd(),
    STABLE + 1,
    'its last row has no line end; without a change for 20 s it is taken as it is',
  ],
  ['a file that was waited for long enough', COMPLETE.trimEnd(), 10 * STABLE, undefined],
  ['a stable and complete file', COMPLETE, STABLE, undefined],
])('%s waits in an inbox for the reason that intake has', async (_, content, after, reason) => {
  const [file] = await look({ 'a.csv': content }, after);
  expect(file?.name).toBe('a.csv');
  expect(file?.why?.reason).toBe(reason);
  expect(file?.unchangedMs).toBeGreaterThanOrEqual(after - 1);
});

it('a file without its done file waits for that file', async () => {
  const files = { 'a.csv': COMPLETE, 'b.csv': COMPLETE, 'b.csv.done': '' };
  const found = await look(files, STABLE, true);
  expect(found.map(({ name, why }) => [name, why?.reason])).toEqual([
    ['a.csv', 'it waits for a.csv.done'],
    ['b.csv', undefined],
  ]);
});

it('five files of an inbox are named, first those that are not ready', async () => {
  await using folder = await makeTempFolder();
  const names = Array.from({ length: 7 }, (_, i) => `${i}.csv`);
  for (const name of names) await writeFile(path.join(folder.path, name), COMPLETE);
  const { ctimeMs } = await stat(path.join(folder.path, '6.csv'));
  const source = { path: folder.path, doneFile: false, stable: STABLE };
  const found = await waitingFiles(source, [...names, 'gone.csv'], { now: ctimeMs + 10 * STABLE });
  expect(found).toHaveLength(5);
  const why = { code: 'unknown', reason: 'it cannot be examined (ENOENT)' };
  expect(found[0]).toEqual({ name: 'gone.csv', why });
});
