import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { canMount } from '../support/can-mount.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { wholeFilesOf } from '../support/whole-report.ts';

const WRITER = new URL('../support/write-reports.ts', import.meta.url).pathname;
const run = promisify(execFile);

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
beforeEach(async () => {
  temp = await makeTempFolder();
});
afterEach(() => temp[Symbol.asyncDispose]());

/** Runs a shell script with `$WRITE` for the writer, in a separate mount namespace where that is possible. */
async function inShell(script: string, cwd: string): Promise<string[]> {
  const env = { ...process.env, WRITE: `${process.execPath} ${WRITER}` };
  const [command, ...before] = canMount ? ['unshare', '-m', 'sh'] : ['sh'];
  const { stdout } = await run(command ?? 'sh', [...before, '-euc', script], { cwd, env });
  return stdout.trimEnd().split('\n');
}

it('a full disk keeps no draft; the report is complete once there is room', async () => {
  const fill = canMount ? 'mount -t tmpfs -o size=96k none disk' : "trap '' XFSZ; ulimit -f 96";
  const room = canMount ? 'mount -o remount,size=16m disk' : 'ulimit -f 16384';
  await mkdir(join(temp.path, 'disk'));
  const look = 'ls -A disk/b';
  const lines = 'wc -l < disk/b/results.csv';
  const script = `(${fill}; $WRITE disk/b=4000; ${look}; ${canMount ? `${room}; $WRITE disk/b=4000; ${look}; ${lines}` : ''})`;
  const said = await inShell(script, temp.path);
  const names = ['dead-letters.json', 'fix.xlsx', 'report.html', 'report.json', 'results.csv'];
  const refusal = expect.stringMatching(/^report-not-written (ENOSPC|EFBIG) disk\/b\/\S+$/);
  expect(said).toEqual(canMount ? [refusal, 'written', ...names, '4001'] : [refusal]);
});

it('a folder without write permission is reported, and an earlier report stays', async () => {
  await mkdir(join(temp.path, 'disk'));
  // Root that may not mount is stopped by no mode, but by sysfs.
  const place = canMount || process.getuid?.() !== 0 ? 'disk' : '/sys';
  const lock = canMount ? 'mount -o remount,ro disk' : 'chmod -R a-w disk';
  const unlock = canMount ? ':' : 'chmod -R u+w disk';
  const script = `${canMount ? 'mount -t tmpfs none disk' : ':'}; $WRITE disk/b=4; ${lock}
    $WRITE ${place}/d=6 ${place}/c=1; wc -l < disk/b/results.csv; ${unlock}`;
  const refusal = expect.stringMatching(
    /^report-not-written (EROFS|EACCES|EPERM) (disk|\/sys)\/[dc]/,
  );
  expect(await inShell(script, temp.path)).toEqual(['written', refusal, refusal, '5']);
});

it('a writer killed at any time leaves no half file under a final name', async () => {
  // Again and again: on no machine it is done before it is killed.
  const batches = Array.from({ length: 4_000 }, (_, index) => `b${index % 200}`);
  for (let round = 0; round < 6; round += 1) {
    const writer = spawn(process.execPath, [
      WRITER,
      ...batches.map((batch) => `${temp.path}/${batch}=60`),
    ]);
    await once(writer.stdout, 'data');
    setTimeout(() => writer.kill('SIGKILL'), 5 + round * 41);
    const [, signal] = await once(writer, 'exit');
    expect(signal).toBe('SIGKILL');
    for (const batch of await readdir(temp.path)) {
      const names = await wholeFilesOf(join(temp.path, batch), 60);
      if (names.includes('report.json')) expect(names).toHaveLength(5);
    }
  }
});
