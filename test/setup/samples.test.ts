import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { loadSetupPart } from '../support/setup-part.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const { dropSamples } = await loadSetupPart<{ dropSamples: (root: string) => Promise<string[]> }>(
  'samples.mjs',
);
type Start = {
  startEverything: (root: string, say: () => void, args: string[]) => Promise<number>;
};
const { startEverything } = await loadSetupPart<Start>('start-everything.mjs');

test('samples are copied into the inbox the first time only', async () => {
  await using folder = await makeTempFolder();
  const inbox = path.join(folder.path, 'inbox');
  await mkdir(inbox);
  await mkdir(path.join(folder.path, 'config', 'samples'), { recursive: true });
  for (const name of ['b.json', 'a.csv'])
    await writeFile(path.join(folder.path, 'config', 'samples', name), name);

  expect(await dropSamples(folder.path)).toEqual(['a.csv', 'b.json']);
  expect((await readdir(inbox)).sort()).toEqual(['a.csv', 'b.json']);

  await rm(path.join(inbox, 'a.csv'));
  expect(await dropSamples(folder.path)).toEqual([]);
  expect(await readdir(inbox)).toEqual(['b.json']);
});

test('npm start refuses options, because the configuration sets its ports and folders', async () => {
  await expect(startEverything('/none', () => {}, ['--port', '5000'])).rejects.toThrow(
    'takes no options (--port 5000)',
  );
});
