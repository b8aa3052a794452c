import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const OUTCOMES = ['accepted', 'duplicate', 'conflict', 'invalid', 'refused', 'failed', 'inDoubt', 'cancelled'];

/** Tells each batch once when it is finished; those of earlier runs are not told. Never returns until `signal` aborts. */
export async function tellReports(folder, signal, tell) {
  const told = new Set(await finishedBatches(folder).then((all) => all.map((report) => report.batch)));
  while (!signal.aborted) {
    for (const report of await finishedBatches(folder, told)) {
      told.add(report.batch);
      tell(sentenceOf(report), path.join(folder, report.batch, 'report.html'));
    }
    await delay(300, undefined, { signal }).catch(() => undefined);
  }
}

/** One line for people: `orders.csv: 12 orders, 10 accepted, 1 invalid, 1 refused; 2 need a person`. */
export function sentenceOf(report) {
  if (report.state === 'unreadable')
    return `${report.file}: cannot be read, nothing was sent. ${report.error?.message ?? ''}`;
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
