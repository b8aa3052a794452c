import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { PoSyncError } from '../errors.ts';
import { type SheetOrder, writeSheet } from './write-sheet.ts';

/** A thread of its own for one workbook: its memory is given back with it, and a limit on it ends only this file. */
const { file, sheet, fd } = workerData as SheetOrder & { fd: number };

try {
  await writeSheet({ file, sheet }, (lines) => writeAll(fd, Buffer.from(lines)));
  parentPort?.postMessage({ kind: 'written' });
} catch (error) {
  if (!(error instanceof PoSyncError)) throw error;
  const { code, message, mend, facts } = error;
  parentPort?.postMessage({ kind: 'refused', code, message, mend, facts });
}

function writeAll(to: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(to, bytes, at);
}
