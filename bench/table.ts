import { type ContenderName, isMet, type Line, type Target } from './line.ts';
import { median, medianRatio } from './median.ts';

/** The lines of one row with their heading. */
export type Part = { name: string; title: string; lines: Line[] };

const SHOWN: Record<ContenderName, string> = {
  'po-sync': 'po-sync',
  undici: 'bare undici',
  fetch: 'fetch script',
  bullmq: 'BullMQ + undici',
};

/** The table in Markdown, with aligned columns so that it is readable as text. */
export function tableOf(parts: readonly Part[]): string {
  const columns = columnsOf(parts);
  const rows = parts.flatMap(({ title, lines }) => [
    [`**${title}**`, ...columns.map(() => ''), '', ''],
    ...lines.map((line) => rowOf(line, columns)),
  ]);
  return markdown(columns, rows);
}

function markdown(columns: readonly ContenderName[], rows: readonly (readonly string[])[]): string {
  const head = ['', ...columns.map((name) => SHOWN[name]), 'to reach', 'reached'];
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i]?.length ?? 0)));
  const text = (row: readonly string[]) =>
    `| ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, i) => (i === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [text(head), rule, ...rows.map(text)].join('\n');
}

function columnsOf(parts: readonly Part[]): ContenderName[] {
  const names = Object.keys(SHOWN) as ContenderName[];
  return names.filter((name) =>
    parts.some(({ lines }) => lines.some(({ samples }) => samples[name] !== undefined)),
  );
}

function rowOf(line: Line, columns: readonly ContenderName[]): string[] {
  const { what, unit, targets = [] } = line;
  return [
    unit === '' ? what : `${what}, ${unit}`,
    ...columns.map((name) => cellOf(line, name)),
    targets.map(limitOf).join('; '),
    targets.map(reachedOf).join('; '),
  ];
}

function cellOf({ samples, compared }: Line, name: ContenderName): string {
  const values = samples[name];
  if (values === undefined) return '';
  const shown = figure(median(values));
  const ours = samples['po-sync'];
  if (!compared || name === 'po-sync' || ours === undefined) return shown;
  return `${shown} (${medianRatio(ours, values).toFixed(2)} ×)`;
}

function limitOf({ text, limit, sense }: Target): string {
  return `${sense === 'at least' ? '≥' : '≤'} ${figure(limit)} ${text}`;
}

function reachedOf(target: Target): string {
  return `${figure(target.value)} ${isMet(target) ? '✓' : '✗'}`;
}

/** Three significant digits. */
function figure(value: number): string {
  if (Number.isNaN(value)) return '–';
  if (Math.abs(value) >= 1000) return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return String(Number(value.toFixed(Math.abs(value) >= 10 ? 1 : 2)));
}
