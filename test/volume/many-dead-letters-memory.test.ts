import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { makeTempFolder } from '../support/temp-folder.ts';

const WRITER = new URL('../support/write-many-dead.ts', import.meta.url).pathname;
const run = promisify(execFile);

it('writes 100,000 dead letters in a heap that could not hold them', async () => {
  await using temp = await makeTempFolder();
  const small = ['--max-old-space-size=24', '--max-semi-space-size=2'];
  await run(process.execPath, [...small, WRITER, temp.path, '100000']);
  const sizeOf = async (name: string) => (await stat(join(temp.path, name))).size;
  expect(await sizeOf('dead-letters.json')).toBeGreaterThan(40_000_000);
  expect(await sizeOf('fix.xlsx')).toBeGreaterThan(1_000_000);
  expect(await sizeOf('report.html')).toBeLessThan(1_000_000);
});
