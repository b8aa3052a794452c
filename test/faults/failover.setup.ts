import type { TestProject } from 'vitest/node';
import { openRowFile } from '../support/row-file.ts';
import type { FailoverRow } from './failover.ts';

declare module 'vitest' {
  interface ProvidedContext {
    failoverRows: string;
  }
}

/** Prints one table of what every test of the suite saw, when the last has ended. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const rows = await openRowFile<FailoverRow>((found) => {
    found.sort(
      (one, other) => one.way.localeCompare(other.way) || one.loss.localeCompare(other.loss),
    );
    process.stdout.write(tableOf(found));
  });
  project.provide('failoverRows', rows.file);
  return rows.close;
}

function tableOf(rows: readonly FailoverRow[]): string {
  const cells = rows.map(({ way, loss, orders, lost, double, noticed, pause }) =>
    [way, loss, orders, lost, double, noticed, pause].map(String),
  );
  const titles = ['Redis', 'primary', 'orders', 'lost', 'double', 'noticed', 'continued after s'];
  const all = [titles, titles.map(() => '---'), ...cells];
  return `\n${all.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n\n`;
}
