import { readFileSync, writeSync } from 'node:fs';
import { PoSyncError } from '../../core/errors.ts';
import { writeSheet } from './write-sheet.ts';

/**
 * A process of its own for one workbook: its memory goes with it, and a limit on it ends only this file. Reads the
 * order as a line of JSON and then the workbook; writes the rows to descriptor 3 and how it ended to descriptor 1.
 */
const input = readFileSync(0);
const end = input.indexOf('\n');
const { sheet } = JSON.parse(input.toString('utf8', 0, end)) as { sheet?: string };

try {
  await writeSheet({ file: input.subarray(end + 1), sheet }, (lines) => writeAll(3, lines));
  writeAll(1, JSON.stringify({ kind: 'written' }));
} catch (error) {
  if (!(error instanceof PoSyncError)) throw error;
  const { code, message, remedy, facts } = error;
  writeAll(1, JSON.stringify({ kind: 'refused', code, message, remedy, facts }));
}

function writeAll(to: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(to, bytes, at);
}
