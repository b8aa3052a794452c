import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const OUTCOMES = ['accepted', 'duplicate', 'conflict', 'invalid', 'refused', 'failed', 'inDoubt', 'cancelled'];

/** Calls `report` once for each batch that finishes from now on, until `signal` aborts. */
export async function reportBatches(folder, signal, report) {
  const reported = new Set(await finishedBatches(folder).then((all) => all.map((report) => report.batch)));
  while (!signal.aborted) {
    for (const batch of await finishedBatches(folder, reported)) {
      reported.add(batch.batch);
      report(sentenceOf(batch), path.join(folder, batch.batch, 'report.html'));
    }
    await delay(300, undefined, { signal }).catch(() => undefined);
  }
}

/** One line for a person: `orders.csv: 12 orders, 10 accepted, 1 invalid, 1 refused; 2 need a person`. */
export function sentenceOf(report) {
  if (report.state === 'unreadable')
    return `${report.file}: cannot be read, no order was sent. ${report.error?.message ?? ''}`;
  const { counts, open, file } = report;
  const parts = OUTCOMES.filter((outcome) => counts[outcome] > 0).map((outcome) => `${counts[outcome]} ${outcome}`);
  const orders = `${counts.orders} ${counts.orders === 1 ? 'order' : 'orders'}`;
  const person = open > 0 ? `; ${open} ${open === 1 ? 'needs' : 'need'} a person` : '';
  return `${file}: ${[orders, ...parts].join(', ')}${person}`;
}

async function finishedBatches(folder, except = new Set()) {
  const names = (await readdir(folder).catch(() => [])).filter((name) => !except.has(name)).sort();
  const reports = await Promise.all(names.map((name) => readReport(path.join(folder, name, 'report.json'))));
  return reports.filter((report) => report?.state === 'finished' || report?.state === 'unreadable');
}

async function readReport(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
}
