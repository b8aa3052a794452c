import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const OUTCOMES = [
  'accepted',
  'duplicate',
  'conflict',
  'invalid',
  'refused',
  'failed',
  'inDoubt',
  'cancelled',
];

const NEED_A_PERSON = ['conflict', 'invalid', 'refused', 'failed', 'inDoubt'];

/** Milliseconds until the first line about files in progress; two such lines are twice that apart. */
const PROGRESS = 5_000;
/** Characters of a line of a terminal, and those that its first line has before the text. */
const COLUMNS = 80;
const PREFIX = 10;
/** Characters of a reason: a message of the API may have any length. */
const LONGEST = 600;

/**
 * Calls `report` once for each file that finishes from now on, until `signal` aborts, and `progress` with a line about each
 * one that takes longer, and with what its orders wait for while it makes no progress. `since`: files that finished after this
 * time, ISO 8601, are reported first. `status` reads the state of the daemon. `columns`: width of the terminal.
 */
export async function reportBatches(
  folder,
  signal,
  report,
  {
    progress = () => undefined,
    every = PROGRESS,
    since,
    status = async () => ({}),
    columns = COLUMNS,
  } = {},
) {
  const isOld = (batch) => !(since !== undefined && batch.finishedAt > since);
  const reported = new Set((await batchesIn(folder, isOld)).map((one) => one.batch));
  const shown = new Map();
  let dueAt = Date.now() + every;
  while (!signal.aborted) {
    for (const batch of await batchesIn(folder, isOfSandbox, reported)) {
      reported.add(batch.batch);
      report(sentenceOf(batch), path.join(folder, batch.batch, 'report.html'), batch.finishedAt);
    }
    if (!(await hasUnfinished(folder))) dueAt = Date.now() + every;
    else if (Date.now() >= dueAt) {
      const { batches = [], waits = [] } = await status();
      for (const batch of batches) {
        const was = shown.get(batch.batch);
        const next = progressOf(batch);
        const isStuck = next === was?.next && batch.state !== 'waiting';
        const line = (isStuck && waitsText(waits, columns - PREFIX)) || next;
        if (line !== was?.line && line !== was?.next) progress(line);
        shown.set(batch.batch, { next, line });
      }
      dueAt = Date.now() + 2 * every;
    }
    await delay(300, undefined, { signal }).catch(() => undefined);
  }
}

/** `4,000`. */
function count(number) {
  return number.toLocaleString('en-US');
}

/** `large.csv: 12,000 of 50,000 orders done`. */
function progressOf({ file, counts, state, waits }) {
  if (state === 'waiting') return `${file}: waits for a person: ${waits?.message ?? ''}`;
  const done = OUTCOMES.reduce((sum, outcome) => sum + counts[outcome], 0);
  if (!counts.orders) return `${file}: is being read, ${count(done)} orders done`;
  return `${file}: ${count(done)} of ${count(counts.orders)} orders done`;
}

/** `10 orders wait for an answer of the API: attempt 1 is in flight`, for each reason that a person need not decide. */
function waitsText(waits, width) {
  const lines = waits
    .filter((wait) => wait.for !== 'person')
    .map(({ orders, for: kind, text }) => {
      // Of very many orders, only the first ones are examined.
      const [more, what] = kind === 'unexamined' ? [' more', ''] : ['', ` for ${text}`];
      return `${count(orders)}${more} ${orders === 1 ? 'order waits' : 'orders wait'}${what}`;
    });
  return lines
    .map((line) => (line.length <= LONGEST ? line : `${line.slice(0, LONGEST)}…`))
    .map((line) => wrapped(line, width))
    .join('\n');
}

/** Lines that begin with two spaces, and with four from the second one; broken between words. */
function wrapped(text, width) {
  const lines = [''];
  for (const word of text.trim().split(/\s+/)) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length + 3 <= width || lines.at(-1) === '') lines[lines.length - 1] = longer;
    else lines.push(` ${word}`);
  }
  return lines.map((line, i) => `${i === 0 ? ' ' : '   '}${line}`).join('\n');
}

/** One line for a person: `orders.csv: 12 orders, 10 accepted, 1 invalid, 1 refused; 2 need a person`. */
export function sentenceOf(report) {
  const { counts, file, state, error } = report;
  const open = NEED_A_PERSON.reduce((sum, outcome) => sum + counts[outcome], 0);
  const sent =
    counts.orders === 0
      ? 'no order was sent'
      : `${count(counts.orders)} orders were admitted before`;
  if (state === 'unreadable')
    return `${file}: cannot be read, ${sent}. ${error?.message ?? ''}`.trimEnd();
  const parts = OUTCOMES.filter((outcome) => counts[outcome] > 0).map(
    (outcome) => `${count(counts[outcome])} ${outcome === 'inDoubt' ? 'in doubt' : outcome}`,
  );
  const orders = ordersText(counts.orders, report.nameless ?? 0);
  const person = open > 0 ? `; ${count(open)} ${open === 1 ? 'needs' : 'need'} a person` : '';
  return `${file}: ${[orders, ...parts].join(', ')}${person}`;
}

/** `8 orders and 2 rows without an order number`. */
function ordersText(all, nameless) {
  const rows = `${count(nameless)} ${nameless === 1 ? 'row' : 'rows'} without an order number`;
  const orders = `${count(all - nameless)} ${all - nameless === 1 ? 'order' : 'orders'}`;
  return nameless === 0 ? orders : all === nameless ? rows : `${orders} and ${rows}`;
}

/** Another configuration of the same checkout writes its reports into the same folder. */
function isOfSandbox({ environment }) {
  return environment === 'sandbox';
}

/** The reports of a folder that match, oldest first. */
async function batchesIn(folder, matches, except = new Set()) {
  const names = (await readdir(folder).catch(() => [])).filter((name) => !except.has(name)).sort();
  const reports = await Promise.all(
    names.map((name) => readReport(path.join(folder, name, 'report.json'))),
  );
  return reports.filter((report) => report !== undefined && matches(report));
}

/** Whether a file is in progress: it has a folder, and no report yet. */
async function hasUnfinished(folder) {
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^\d{8}T/.test(name));
  const reports = await Promise.all(
    names.map((name) => readReport(path.join(folder, name, 'report.json'))),
  );
  return reports.includes(undefined);
}

async function readReport(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
}
