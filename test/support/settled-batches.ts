import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Report } from '../../src/report/report.ts';

export type SettledBatch = { folder: string; report: Report; results: Record<string, string>[] };

/** The batches below a reports folder that are finished or unreadable, in the order of their names. */
export async function settledBatches(reports: string): Promise<SettledBatch[]> {
  const names: string[] = await readdir(reports).catch(() => []);
  const all = await Promise.all(names.sort().map((name) => settledBatch(path.join(reports, name))));
  return all.filter((batch) => batch !== undefined);
}

async function settledBatch(folder: string): Promise<SettledBatch | undefined> {
  const text = await readFile(path.join(folder, 'report.json'), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const report: Report = JSON.parse(text);
  if (report.state === 'unreadable') return { folder, report, results: [] };
  // An earlier version reports a file that waits, without results.
  const results = await readFile(path.join(folder, 'results.csv')).catch(() => '');
  return { folder, report, results: parse(results, { columns: true }) };
}
