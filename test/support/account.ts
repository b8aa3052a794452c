import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { OUTCOMES } from '../../src/order/outcome.ts';
import type { Report } from '../../src/report/report.ts';
import type { SandboxEvent } from '../../src/sandbox/sandbox-options.ts';
import { type SettledBatch, settledBatches } from './settled-batches.ts';
import { until } from './until.ts';
import { csvOf, type Workplace } from './workplace.ts';

/** What became of the orders of some files, by the API's own record and then by the reports. */
export type Account = {
  orders: number;
  /** Create calls that reached the API. */
  calls: number;
  /** Never stored, and no report hands the order to a person. */
  lost: number;
  /** Stored more than once. */
  double: number;
  /** Handed to a person, although every one of them is good. */
  givenUp: number;
  /** Files without exactly one report, and reports that do not add up. */
  untidy: string[];
};

/** A file of good orders, each with a separate number. */
export type DroppedFile = { name: string; first: number; orders: number };

/** Drops a file of so many orders, numbered on from the last one. */
export async function dropOrders(
  place: Workplace,
  dropped: DroppedFile[],
  orders: number,
): Promise<DroppedFile> {
  const last = dropped.at(-1);
  const file = {
    name: `orders-${dropped.length + 1}.csv`,
    first: (last?.first ?? 1) + (last?.orders ?? 0),
    orders,
  };
  dropped.push(file);
  await place.drop(file.name, csvOf(orders, file.first));
  return file;
}

/** Resolves when every file has a finished report. */
export async function allReported(place: Workplace, files: readonly DroppedFile[]): Promise<void> {
  const finished = new Set<string>();
  await until(`reports of ${files.length} files`, async () => {
    for (const name of await readdir(place.reports).catch(() => [])) {
      if (!finished.has(name) && (await isFinished(path.join(place.reports, name))))
        finished.add(name);
    }
    return finished.size >= files.length;
  });
}

async function isFinished(folder: string): Promise<boolean> {
  const text = await readFile(path.join(folder, 'report.json'), 'utf8').catch(() => undefined);
  if (text === undefined) return false;
  const report: Report = JSON.parse(text);
  return report.state === 'finished';
}

/** Compares what was dropped with what the API did and with what the reports say. */
export async function accountOf(place: Workplace, files: readonly DroppedFile[]): Promise<Account> {
  const stored = place.stored();
  const outcomes = new Map<string, string>();
  const settled = await settledBatches(place.reports);
  for (const { purchaseOrderNumber = '', outcome = '' } of settled.flatMap(
    ({ results }) => results,
  )) {
    outcomes.set(purchaseOrderNumber, outcome);
  }
  const numbers = files.flatMap(numbersIn);
  const isGivenUp = (number: string) =>
    !['accepted', 'duplicate'].includes(outcomes.get(number) ?? 'accepted');
  return {
    orders: numbers.length,
    calls: countOf(place.events, 'received'),
    lost: numbers.filter((number) => !stored.has(number) && !isGivenUp(number)).length,
    double: [...stored.values()].filter((times) => times > 1).length,
    givenUp: numbers.filter(isGivenUp).length,
    untidy: files.flatMap((file) => faultsOf(file, settled)),
  };
}

/** How many events of a type there were. */
export function countOf(events: readonly SandboxEvent[], type: SandboxEvent['type']): number {
  return events.reduce((sum, event) => sum + Number(event.type === type), 0);
}

function numbersIn({ first, orders }: DroppedFile): string[] {
  return Array.from({ length: orders }, (_, i) => `PO-${first + i}`);
}

/** One file, one report, every order in it once, the eight outcomes add up. */
function faultsOf(file: DroppedFile, settled: readonly SettledBatch[]): string[] {
  const mine = settled.filter(({ report }) => report.file === file.name);
  const [only] = mine;
  if (only === undefined || mine.length > 1) return [`${file.name}: ${mine.length} reports`];
  const { counts } = only.report;
  const sum = OUTCOMES.reduce((total, outcome) => total + counts[outcome], 0);
  const rows = new Set(only.results.map(({ purchaseOrderNumber }) => purchaseOrderNumber));
  const whole =
    numbersIn(file).every((number) => rows.has(number)) && only.results.length === file.orders;
  const adds =
    counts.orders === file.orders && sum === file.orders && counts.records === file.orders;
  return [
    ...(adds ? [] : [`${file.name}: ${file.orders} orders, ${JSON.stringify(counts)}`]),
    ...(whole
      ? []
      : [`${file.name}: ${rows.size} numbers in ${only.results.length} rows of results.csv`]),
  ];
}
