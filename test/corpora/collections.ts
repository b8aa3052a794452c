import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Mapping } from '../../src/config/config.ts';
import { PoSyncError } from '../../src/core/errors.ts';
import type { CheckedOrder } from '../../src/order/order.ts';
import { type ReadFile, readText } from '../support/read-text.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

/** What became of one file of a collection: `sent` orders, and what is wrong with them. */
export type Verdict = { status: 'read' | 'held' | 'refused'; sent: number; wrong: string[] };

/** The figures of a collection. */
export type Tally = {
  files: number;
  read: number;
  held: number;
  refused: number;
  sent: number;
  wrong: string[];
};

const run = promisify(execFile);

/** The folder with the collections, its `.tar.xz` archives unpacked into a temporary one. */
export async function openCollections(folder: string) {
  const unpacked = await makeTempFolder();
  for (const name of await readdir(folder)) {
    if (name.endsWith('.tar.xz'))
      await run('tar', ['-xJf', path.join(folder, name), '-C', unpacked.path]);
  }
  const places = [unpacked.path, folder];
  return {
    temporary: unpacked.path,
    /** The path of a file or folder; undefined if no collection has it. */
    find: (name: string) =>
      places.map((place) => path.join(place, name)).find((found) => existsSync(found)),
    async filesLike(extension: string): Promise<string[]> {
      const names = await Promise.all(
        places.map(async (place) => (await readdir(place)).map((name) => path.join(place, name))),
      );
      return names
        .flat()
        .filter((name) => name.endsWith(extension))
        .sort();
    },
    [Symbol.asyncDispose]: () => unpacked[Symbol.asyncDispose](),
  };
}

export type Collections = Awaited<ReturnType<typeof openCollections>>;

/** Reads content; undefined when it is refused. Every refusal is a PoSyncError of a known kind. */
export async function readOrRefuse(
  content: string | Buffer,
  mapping: Mapping,
): Promise<ReadFile | undefined> {
  try {
    return await readText(content, mapping);
  } catch (error) {
    if (!(error instanceof PoSyncError) || !error.code.startsWith('unreadable')) throw error;
    return undefined;
  }
}

/** The verdict on a file; `wrongIn` says what is wrong with an order that would be sent. */
export function judge(
  file: string,
  found: ReadFile | undefined,
  wrongIn: (order: CheckedOrder & { valid: true }) => string | undefined,
): Verdict {
  if (found === undefined) return { status: 'refused', sent: 0, wrong: [] };
  const sent = found.orders.filter((order) => order.valid);
  const wrong = sent.flatMap((order) => wrongIn(order) ?? []).map((reason) => `${file}: ${reason}`);
  return { status: sent.length < found.orders.length ? 'held' : 'read', sent: sent.length, wrong };
}

export async function tally(verdicts: AsyncIterable<Verdict>): Promise<Tally> {
  const sum: Tally = { files: 0, read: 0, held: 0, refused: 0, sent: 0, wrong: [] };
  for await (const { status, sent, wrong } of verdicts) {
    sum.files += 1;
    sum[status] += 1;
    sum.sent += sent;
    sum.wrong.push(...wrong);
  }
  return sum;
}

/** The figures of all collections as a table. */
export function tableOf(tallies: ReadonlyMap<string, Tally>): string {
  const head = ['collection', 'files', 'read', 'held', 'refused', 'orders sent', 'wrong'];
  const rows = [...tallies].map(([name, one]) => [
    name,
    ...[one.files, one.read, one.held, one.refused, one.sent, one.wrong.length].map(String),
  ]);
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  const lines = [head, ...rows].map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  );
  return `${lines.join('\n')}\n`;
}
