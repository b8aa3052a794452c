import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import type { FailoverRow } from './failover.ts';

declare module 'vitest' {
  interface ProvidedContext {
    failoverRows: string;
  }
}

/** Prints one table of what every test of the suite saw, when the last has ended. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'po-sync-failover-'));
  const file = path.join(folder, 'rows.ndjson');
  project.provide('failoverRows', file);
  return async () => {
    const text = await readFile(file, 'utf8').catch(() => '');
    const rows = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as FailoverRow]));
    rows.sort((one, other) => one.way.localeCompare(other.way) || one.loss.localeCompare(other.loss));
    if (rows.length > 0) process.stdout.write(tableOf(rows));
    await rm(folder, { recursive: true, force: true });
  };
}

function tableOf(rows: readonly FailoverRow[]): string {
  const cells = rows.map(({ way, loss, orders, lost, double, noticed, pause }) =>
    [way, loss, orders, lost, double, noticed, pause].map(String),
  );
  const titles = ['Redis', 'primary', 'orders', 'lost', 'double', 'noticed', 'continued after s'];
  const all = [titles, titles.map(() => '---'), ...cells];
  return `\n${all.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n\n`;
}
