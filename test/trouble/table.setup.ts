import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import type { Row } from './trouble-row.ts';

declare module 'vitest' {
  interface ProvidedContext {
    troubleRows: string;
  }
}

/** Prints one table of what every test of the suite saw, when the last has ended. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'po-sync-trouble-'));
  const file = path.join(folder, 'rows.ndjson');
  project.provide('troubleRows', file);
  return async () => {
    const text = await readFile(file, 'utf8').catch(() => '');
    const rows = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Row]));
    rows.sort((a, b) => a.stays.localeCompare(b.stays));
    if (rows.length > 0) console.log(tableOf(rows));
    await rm(folder, { recursive: true, force: true });
  };
}

const WIDEST = 90;

function tableOf(rows: readonly Row[]): string {
  const titles = ['what stays', 'outcomes', 'twice', 'lost', 'token/s', 'create/s', 'list/s', 'status'];
  const cells = rows.map(({ stays, outcomes, twice, lost, rates, status }) =>
    [stays, outcomes, twice, lost, rates.token, rates.create, rates.list, status].map((cell) =>
      String(cell).length > WIDEST ? `${String(cell).slice(0, WIDEST - 1)}…` : String(cell),
    ),
  );
  const widths = titles.map((title, i) => Math.max(title.length, ...cells.map((row) => row[i]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width));
  return ['', ...[titles, rule, ...cells].map(line), ''].join('\n');
}
