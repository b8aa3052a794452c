import { stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { namesToTake, unfinishedExport, waitingFiles } from '../../src/intake/waiting.ts';
import { exportSource, inboxSource, lacksWith } from '../support/inbox-source.ts';
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

it('an export is named while it is written or looks incomplete, and not once it was waited for', async () => {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'erp.csv');
  await writeFile(file, COMPLETE);
  const { ctimeMs } = await stat(file);
  const reasonAfter = async (ms: number) => {
    const facts = { now: ctimeMs + ms, lacks: lacksWith({ lastRow: '^END' }) };
    const { waitingFiles: found } = await unfinishedExport(
      exportSource(file, { stable: STABLE }),
      facts,
    );
    return found?.map(({ name, why }) => `${name}: ${why?.reason}`);
  };
  expect(await reasonAfter(STABLE - 1)).toEqual(['erp.csv: it is still changing']);
  expect(await reasonAfter(STABLE + 1)).toEqual([
    expect.stringMatching(/^erp\.csv: .*without a change for 20 s/),
  ]);
  expect(await reasonAfter(10 * STABLE)).toBeUndefined();
  const none = exportSource(path.join(folder.path, '*.csv'), { stable: STABLE });
  expect(await unfinishedExport(none, { now: ctimeMs })).toEqual({});
});

it('of a pattern with newestOnly, the newest file is named while it waits for its done file, until it is claimed', async () => {
  await using folder = await makeTempFolder();
  const source = exportSource(path.join(folder.path, 'PO_*.csv'), {
    stable: STABLE,
    newestOnly: true,
    doneFile: true,
  });
  const files = ['PO_2.csv', 'PO_1.csv'].map((name) => path.join(folder.path, name));
  for (const file of files) await writeFile(file, COMPLETE);
  await utimes(files[0] ?? '', new Date(0), new Date(0));
  const { ctimeMs, mtimeNs } = await stat(files[1] ?? '', { bigint: true });
  const seen = async (newest?: string) =>
    (
      await unfinishedExport(source, { now: Number(ctimeMs) + 20 * STABLE, newest: newest ?? null })
    ).waitingFiles?.map(({ name, why }) => `${name}: ${why?.reason}`);
  const waits = ['PO_1.csv: it waits for PO_1.csv.done'];
  expect(await seen()).toEqual(waits);
  const claimed = (at: bigint, file = 'PO_1.csv') =>
    JSON.stringify({ path: source.path, file, mtimeNs: String(at) });
  expect(await seen(claimed(mtimeNs - 1n, 'PO_2.csv'))).toEqual(waits);
  expect(await seen(claimed(mtimeNs))).toBeUndefined();
  await writeFile(`${files[1]}.done`, '');
  expect(await seen()).toBeUndefined();
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
