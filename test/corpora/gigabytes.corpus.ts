import { expect, test } from 'vitest';
import { type LargeKind, outcomeOf } from '../support/large-files.ts';
import { readLarge } from '../support/read-large.ts';

const MILLION = 1_000_000;

/** Beyond the program itself, which has 95 MB; the daemon stays below 200 MB with all its other parts. */
const ROOM = 60;

test.each<[kind: LargeKind, rows: number, megabytes: number]>([
  ['rows of one order together', 4 * MILLION, 125],
  ['rows of one order far apart', 4 * MILLION, 125],
  ['long orders, their rows together', 4 * MILLION, 125],
  ['long orders, their rows far apart', 4 * MILLION, 125],
  ['every row wrong', 4 * MILLION, 125],
  ['JSON on a single line', 15 * MILLION, 1_000],
  ['NDJSON', 4 * MILLION, 200],
  ['a quote that is never closed', 42 * MILLION, 1_000],
  ['a JSON text that never ends', 20 * MILLION, 1_000],
  ['nothing but line ends', 20 * MILLION, 1_000],
])('%s, %d rows: little memory', async (kind, rows, megabytes) => {
  const { roomMb, peakMb, seconds, bytes, records, proved, ...came } = await readLarge(kind, rows);
  process.stdout.write(
    `${kind}: ${Math.round(bytes / 1e6)} MB, ${seconds} s, ${peakMb} MB of memory\n`,
  );
  expect(bytes).toBeGreaterThan(megabytes * 1e6);
  expect(came).toMatchObject(outcomeOf(kind, rows));
  expect(records).toBe(proved);
  expect(roomMb).toBeLessThan(ROOM);
});
