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

/** Milliseconds until the first line about a file that is still being delivered, and between two such lines. */
const PROGRESS = 5_000;
/** Characters of a line of a terminal, and those that its first line has before the text. */
const COLUMNS = 80;
const PREFIX = 10;
/** Characters of a reason: a message of the API may have any length. */
const LONGEST = 600;

/**
 * Calls `report` once for each batch that finishes from now on, until `signal` aborts, and `progress` with a line about
 * each batch that takes longer. Without `progress` only the results are reported. `since`: batches that finished after this
 * time, ISO 8601, are reported first. `waits` reads what orders wait for; it is asked while
 * a batch makes no progress. `columns`: width of the terminal.
 */
export async function reportBatches(
  folder,
  signal,
  report,
  {
    progress = () => undefined,
    every = PROGRESS,
    since,
    waits = async () => [],
    columns = COLUMNS,
  } = {},
) {
  const isOld = (batch) => isDone(batch) && !(since !== undefined && batch.finishedAt > since);
  const reported = new Set(
    await batchesIn(folder, isOld).then((all) => all.map((one) => one.batch)),
  );
  const shown = new Map();
  let head = '';
  const reason = oncePer(4 * every, async () => waitsText(await waits(), columns - PREFIX));
  while (!signal.aborted) {
    for (const batch of await batchesIn(folder, isOfSandbox, reported)) {
      if (isDone(batch)) {
        reported.add(batch.batch);
        head = '';
        report(sentenceOf(batch), path.join(folder, batch.batch, 'report.html'), batch.finishedAt);
      } else {
        const next = progressOf(batch);
        const { at, was, line } = shown.get(batch.batch) ?? { at: Date.now(), was: next, line: '' };
        const isDue = Date.now() - at >= every;
        const why = isDue && next === was && batch.state !== 'waiting' ? await reason() : '';
        const text = why === '' ? next : `${next}\n${why}`;
        const isNews = isDue && text !== line && !(why === '' && line.startsWith(`${next}\n`));
        // The same line again would say nothing; below it, only the reason is new.
        if (isNews) progress(next === head ? why : text);
        if (isNews) head = next;
        shown.set(
          batch.batch,
          isDue ? { at: Date.now(), was: next, line: isNews ? text : line } : { at, was, line },
        );
      }
    }
    await delay(300, undefined, { signal }).catch(() => undefined);
  }
}

/** What earlier runs left for a person and showed until `since`, one line a batch, the newest five. */
export async function waitingReports(folder, since) {
  const isWaiting = (batch) => batch.open > 0 && isOfSandbox(batch) && !(batch.finishedAt > since);
  const waiting = (await batchesIn(folder, isWaiting)).map((batch) => {
    const open = `${count(batch.open)} ${batch.open === 1 ? 'needs' : 'need'} a person`;
    return {
      sentence: `${batch.file}: ${open}`,
      page: path.join(folder, batch.batch, 'report.html'),
    };
  });
  return { shown: waiting.slice(-5), more: Math.max(0, waiting.length - 5) };
}

/** `4,000`. */
function count(number) {
  return number.toLocaleString('en-US');
}

/** `large.csv: 12,000 of 50,000 orders done`. */
function progressOf({ file, counts, state, waits }) {
  if (state === 'waiting') return `${file}: waits for a person: ${waits?.message ?? ''}`;
  const done = OUTCOMES.reduce((sum, outcome) => sum + counts[outcome], 0);
  if (counts.orders === 0) return `${file}: is being read, ${count(done)} orders done`;
  return `${file}: ${count(done)} of ${count(counts.orders)} orders done`;
}

/** Milliseconds for which a reason is shown: what orders wait for changes within seconds. */
const FRESH = 1_000;

/** Asking costs a process: for `time` milliseconds nobody is asked again, and an answer that is no longer fresh is not given. */
function oncePer(time, ask) {
  let last;
  return async () => {
    if (last === undefined || Date.now() - last.at >= time)
      last = { answer: await ask(), at: Date.now() };
    return Date.now() - last.at < FRESH ? last.answer : '';
  };
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
  const { counts, open, file, state, error } = report;
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

function isDone({ state }) {
  return state === 'finished' || state === 'unreadable';
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

async function readReport(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
}
