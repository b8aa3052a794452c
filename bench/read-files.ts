import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'csv-parse';
import { proveFile } from '../src/read/prove.ts';
import { readOrderPages } from '../src/read-orders.ts';

/** Both passes over a table, with mapping and checks, against one bare csv-parse pass over the same file. */
export type ReadBench = { rows: number; bytes: number; milliseconds: number; bareMilliseconds: number; share: number };

const ROUNDS = 5;

/** Writes a table of `rows` rows, two to an order, and measures; processor time, the middle of five rounds. */
export async function benchReading(rows: number): Promise<ReadBench> {
  const folder = await mkdtemp(path.join(tmpdir(), 'po-sync-bench-'));
  const file = path.join(folder, 'orders.csv');
  try {
    await writeTable(file, rows);
    const ours: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      ours.push(await timed(() => readBoth(file)));
      bare.push(await timed(() => readBare(file)));
    }
    const [milliseconds, bareMilliseconds] = [middle(ours), middle(bare)];
    const { size: bytes } = await stat(file);
    return { rows, bytes, milliseconds, bareMilliseconds, share: bareMilliseconds / milliseconds };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function readBoth(file: string): Promise<void> {
  const proof = await proveFile(file, undefined);
  for await (const page of readOrderPages(file, proof, undefined)) void page;
}

async function readBare(file: string): Promise<void> {
  for await (const row of createReadStream(file).pipe(parse())) void row;
}

async function writeTable(file: string, rows: number): Promise<void> {
  const stream = createWriteStream(file);
  stream.write('purchaseOrderNumber,orderState,articleCode,quantity\n');
  for (let row = 0; row < rows; row++) {
    const number = String(row >> 1).padStart(8, '0');
    if (!stream.write(`PO-2026-${number},NEW,ART-${row % 5000},${1 + (row % 90)}\n`)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'finish');
}

async function timed(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

if (import.meta.main) {
  const { rows, bytes, milliseconds, bareMilliseconds, share } = await benchReading(400_000);
  const facts = `${rows} rows, ${(bytes / 1e6).toFixed(1)} MB: both passes ${milliseconds.toFixed(0)} ms of processor time`;
  process.stdout.write(`${facts}, one bare csv-parse pass ${bareMilliseconds.toFixed(0)} ms: ${share.toFixed(2)}\n`);
}
