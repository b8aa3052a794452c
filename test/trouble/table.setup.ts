import type { TestProject } from 'vitest/node';
import { openRowFile } from '../support/row-file.ts';
import type { Row } from './trouble-row.ts';

declare module 'vitest' {
  interface ProvidedContext {
    troubleRows: string;
  }
}

/** Prints one table of what every test of the suite saw, when the last has ended. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const rows = await openRowFile<Row>((found) => {
    found.sort((a, b) => a.stays.localeCompare(b.stays));
    console.log(tableOf(found));
  });
  project.provide('troubleRows', rows.file);
  return rows.close;
}

const WIDEST = 90;

function tableOf(rows: readonly Row[]): string {
  const titles = [
    'what stays',
    'outcomes',
    'twice',
    'lost',
    'token/s',
    'create/s',
    'list/s',
    'status',
  ];
  const cells = rows.map(({ stays, outcomes, twice, lost, rates, status }) =>
    [stays, outcomes, twice, lost, rates.token, rates.create, rates.list, status].map((cell) =>
      String(cell).length > WIDEST ? `${String(cell).slice(0, WIDEST - 1)}…` : String(cell),
    ),
  );
  const widths = titles.map((title, i) =>
    Math.max(title.length, ...cells.map((row) => row[i]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width));
  return ['', ...[titles, rule, ...cells].map(line), ''].join('\n');
}
