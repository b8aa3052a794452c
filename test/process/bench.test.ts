import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { makeTempFolder } from '../support/temp-folder.ts';

const BENCH = path.resolve(import.meta.dirname, '../../bench/bench.ts');

test('a run of one row prints its table and keeps every sample', async () => {
  await using results = await makeTempFolder();
  const child = spawn(
    process.execPath,
    [BENCH, '--quick', '--only', 'first-post', '--results', results.path],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  let out = '';
  child.stdout.on('data', (bytes) => {
    out += String(bytes);
  });
  const [code] = await once(child, 'close');
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('≤ 100 ms') });
  const [file = ''] = await readdir(results.path);
  expect(file).toMatch(/^\d{8}T\d{4}-\w+(-changed)?-part\.json$/);
  const kept = JSON.parse(await readFile(path.join(results.path, file), 'utf8'));
  const [line] = kept.parts[0].lines;
  expect(line.samples['po-sync']).toHaveLength(2);
  expect(line.medians['po-sync']).toBeGreaterThan(0);
  expect(kept.ground.versions.redis).toMatch(/^\d/);
});
