import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { killProcess } from './kill-process.ts';
import { processesBelow, processesIn } from './processes-in.ts';
import { makeTempFolder } from './temp-folder.ts';

test('a process is found by the folder it runs in, and by each folder above it', async () => {
  await using place = await makeTempFolder();
  const inner = path.join(place.path, 'inner');
  await mkdir(inner);
  const child = spawn('sleep', ['60'], { cwd: inner });
  await once(child, 'spawn');
  try {
    expect(await processesIn(inner)).toEqual([child.pid]);
    expect(await processesIn(place.path)).toEqual([]);
    expect(await processesBelow(place.path)).toEqual([child.pid]);
    expect(await processesBelow(`${place.path}/inn`)).toEqual([]);
  } finally {
    killProcess(child.pid ?? 0, 'SIGKILL');
    await once(child, 'exit');
  }
});
