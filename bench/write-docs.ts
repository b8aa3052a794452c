import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Result } from './result.ts';
import { tableOf } from './table.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const [BEGIN, END] = ['<!-- bench -->', '<!-- /bench -->'];

/** Writes the table of a run between the markers of docs/performance.md. */
export async function writeDocs(result: Result): Promise<void> {
  await replaceIn('docs/performance.md', `${groundOf(result)}\n\n${tableOf(result.parts)}`);
}

/** Replaces the text between the markers with `table`. Throws when the markers are missing. */
export function replaceTable(text: string, table: string): string {
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`the markers ${BEGIN} … ${END} are missing`);
  return `${text.slice(0, begin)}${BEGIN}\n${table}\n${text.slice(end)}`;
}

async function replaceIn(name: string, table: string): Promise<void> {
  const file = path.join(ROOT, name);
  await writeFile(file, replaceTable(await readFile(file, 'utf8'), table));
}

function groundOf({ at, ground }: Result): string {
  const { commit, processor, cores, memoryMb, load, versions } = ground;
  const machine = `${processor}, ${cores} cores, ${Math.round(memoryMb / 1024)} GB`;
  const software = `Node ${versions.node}, Redis ${versions.redis}, undici ${versions.undici}, BullMQ ${versions.bullmq}`;
  const facts = `Measured ${at.slice(0, 10)} at ${commit} on ${machine}; ${software}.`;
  return `${facts} API, Redis and daemon share the cores; load before: ${load.toFixed(1)}.`;
}
