import { basename, dirname, join } from 'node:path';
import { type MessagePort, parentPort } from 'node:worker_threads';
import { codeOf, toError } from '../../core/errors.ts';
import type { DeadLetter } from '../../order/dead-letter.ts';
import {
  countNeedingPerson,
  needsPerson,
  type OrderResult,
  type Outcome,
} from '../../order/outcome.ts';
import { readDeadLetters } from '../../report/dead-letters.ts';
import { readFinished } from '../../report/report.ts';
import { readResultLines } from '../../report/results.ts';
import { createLetterTable } from './letter-table.ts';

/** A report to read; `closed`: the ids of what was closed since it was written. */
export type ReportToRead = {
  folder: string;
  batch: string;
  closed: readonly string[];
  /** Absent for a batch that Redis no longer knows: its report says it. */
  known?: { source: string; file: string };
};

/** An order of a batch; `letter`: the id of its dead letter, where it needed a person. */
export type OrderInBatch = OrderResult & { letter?: string };

/** Orders of a batch. `next`: where the next page begins. */
export type OrderPage = { items: OrderInBatch[]; next: number | undefined };

/** A call of one of the functions below; answers arrive in any order. */
export type ReadCall = { id: number; name: keyof Reads; given: unknown[] };
export type ReadAnswer = { id: number; value: unknown } | { id: number; error: string };

export type Reads = ReturnType<typeof createReads>;

// A worker thread: reading reports and searching must not delay the delivery of orders.
if (parentPort !== null) serve(parentPort);

/** The open dead letters, and what is read from reports on request. */
function createReads() {
  const table = createLetterTable();

  /**
   * Reads the dead letters of reports into the table; a report that expired has none. Returns why reports could not be
   * read: the other ones must not wait for a file that somebody damaged.
   */
  async function load(reports: readonly ReportToRead[], environment: string): Promise<string[]> {
    const faults: string[] = [];
    for (const report of reports) {
      await loadOne(report, environment).catch((thrown: unknown) => {
        faults.push(
          `The dead letters of ${report.batch} cannot be read: ${toError(thrown).message}`,
        );
      });
    }
    return faults;
  }

  async function loadOne(
    { folder, batch, closed, known }: ReportToRead,
    environment: string,
  ): Promise<void> {
    const from = known ?? (await forgottenBatch(folder, environment));
    if (from === undefined) return;
    const letters: DeadLetter[] = [];
    for await (const one of lettersIn(folder)) letters.push(one);
    const ended = new Set(closed);
    const open = letters.filter(({ id }) => !ended.has(id));
    table.put({ batch, ...from }, open);
  }

  return {
    ...table,
    load,
    find,
    orders,
  };
}

/** The complete dead letter of a report; undefined when it is not there. */
async function find(folder: string, id: string): Promise<DeadLetter | undefined> {
  for await (const one of lettersIn(folder)) if (one.id === id) return one;
  return undefined;
}

/** A page of `results.csv`, from the byte `start`. */
async function orders(
  folder: string,
  start: number,
  limit: number,
  outcome?: Outcome,
): Promise<OrderPage> {
  const items: OrderResult[] = [];
  let last = start;
  const lines = readResultLines(join(folder, 'results.csv'), start, outcome ?? '');
  for await (const { result, end } of lines) {
    if (outcome !== undefined && result.outcome !== outcome) continue;
    if (items.length === limit) return { items: await named(items, folder), next: last };
    items.push(result);
    last = end;
  }
  return { items: await named(items, folder), next: undefined };
}

/** The orders with the ids of their dead letters. */
async function named(items: readonly OrderResult[], folder: string): Promise<OrderInBatch[]> {
  const keyOf = (line: number, number: string) => JSON.stringify([line, number]);
  const ids = new Map<string, string>();
  if (items.some(({ outcome }) => needsPerson(outcome)))
    for await (const { location, purchaseOrderNumber, id } of lettersIn(folder))
      ids.set(keyOf(location.line, purchaseOrderNumber), id);
  return items.map((one) => {
    const letter = needsPerson(one.outcome) && ids.get(keyOf(one.line, one.purchaseOrderNumber));
    return letter ? { ...one, letter } : one;
  });
}

/** The source and file of a finished report of this environment that has dead letters. */
async function forgottenBatch(folder: string, environment: string) {
  const report = await readFinished(dirname(folder), basename(folder), environment).catch(
    () => undefined,
  );
  if (report === undefined) return undefined;
  if (countNeedingPerson(report.counts) === 0) return undefined;
  return { source: report.source, file: report.file };
}

async function* lettersIn(folder: string): AsyncGenerator<DeadLetter> {
  try {
    yield* readDeadLetters(folder);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** A function that throws at once fails like one that rejects. */
async function answer(
  read: ((...given: never[]) => unknown) | undefined,
  given: readonly unknown[],
): Promise<unknown> {
  return read?.(...(given as never[]));
}

function serve(port: MessagePort): void {
  const reads: Record<string, (...given: never[]) => unknown> = createReads();
  port.on('message', ({ id, name, given }: ReadCall) => {
    answer(reads[name], given).then(
      (value) => port.postMessage({ id, value } satisfies ReadAnswer),
      (error: unknown) =>
        port.postMessage({ id, error: toError(error).message } satisfies ReadAnswer),
    );
  });
}
