import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import {
  hashFile,
  readJsonIfExists,
  readTextIfExists,
  writeWhole,
} from '../../src/core/regular-file.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { watchSyncs } from '../support/watch-syncs.ts';

it('a file is replaced by its new text, with the mode asked for, and no draft is left', async () => {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'state.json');
  await writeWhole(file, 'one', { mode: 0o600 });
  await writeWhole(file, 'two', { mode: 0o600 });
  expect(await readFile(file, 'utf8')).toBe('two');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder.path)).toEqual(['state.json']);
});

it('a write that fails leaves neither a draft nor the old file changed', async () => {
  await using folder = await makeTempFolder();
  const target = path.join(folder.path, 'state.json');
  await mkdir(target);
  await expect(writeWhole(target, 'x')).rejects.toThrow();
  expect(await readdir(folder.path)).toEqual(['state.json']);
});

it('a missing file reads as undefined, a damaged one throws', async () => {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'state.json');
  expect(await readTextIfExists(file)).toBeUndefined();
  expect(await readJsonIfExists(path.join(file, 'below'))).toBeUndefined();
  await writeFile(file, '{"a":');
  await expect(readJsonIfExists(file)).rejects.toThrow(SyntaxError);
});

it('a file is durable before it gets its name, and then its folder is', async () => {
  await using folder = await makeTempFolder();
  await using syncs = await watchSyncs();
  await writeWhole(path.join(folder.path, 'state.json'), 'x');
  expect(syncs.paths).toEqual([expect.stringMatching(/\/\.po-sync-[0-9a-f]+\.tmp$/), folder.path]);
});

it('a file is not read once its signal has aborted, and nothing else fails', async () => {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'a.csv');
  await writeFile(file, 'x'.repeat(1_000_000));
  // An error that nobody handles would fail the run.
  for (let i = 0; i < 20; i += 1) {
    await expect(hashFile(file, { signal: AbortSignal.abort('SIGTERM') })).rejects.toMatchObject({
      name: 'AbortError',
    });
  }
});
