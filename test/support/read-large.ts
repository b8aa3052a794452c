import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { type LargeKind, writeLarge } from './large-files.ts';
import { makeTempFolder } from './temp-folder.ts';

/** The result of reading a large file in a separate process, and the memory that it took beyond the program itself. */
export type ReadLarge = {
  orders?: number;
  valid?: number;
  records?: number;
  proved?: number;
  code?: string;
  line?: number;
  bytes: number;
  peakMb: number;
  roomMb: number;
  seconds: number;
};

const READER = new URL('./read-large.program.ts', import.meta.url).pathname;
/** As bin/po-sync starts the daemon. */
const FLAGS = ['--max-semi-space-size=8', '--max-old-space-size=512'];

/** Writes a file of a kind and reads it. */
export async function readLarge(kind: LargeKind, rows: number): Promise<ReadLarge> {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'orders');
  const bytes = await writeLarge(file, kind, rows);
  const began = performance.now();
  const { stdout } = await promisify(execFile)(process.execPath, [...FLAGS, READER, file]);
  const seconds = Math.round((performance.now() - began) / 1000);
  return { ...(JSON.parse(stdout) as Omit<ReadLarge, 'bytes' | 'seconds'>), bytes, seconds };
}
