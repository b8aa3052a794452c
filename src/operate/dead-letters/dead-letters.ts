import { join } from 'node:path';
import { codeOf, PoSyncError } from '../../core/errors.ts';
import { allNames } from '../../ledger/batches/batch-control.ts';
import type { Closings, DeadLetter } from '../../order/dead-letter.ts';
import { splitId } from '../../order/letter-id.ts';
import type { KeyOf } from '../../order/number-key.ts';
import { countNeedingPerson, type DeadLetterKind } from '../../order/outcome.ts';
import { closedInProgress } from '../../put-away/close-dead-letters.ts';
import {
  deadLettersInProgress,
  type FoundDeadLetter,
} from '../../put-away/dead-letters-in-progress.ts';
import { forgottenEnd } from '../../put-away/missing-file.ts';
import { readDeadLetters } from '../../report/dead-letters.ts';
import { pages } from '../../report/lines.ts';
import { type Report, readFinished, reportNames } from '../../report/report.ts';
import { findBatch } from '../batches/list-batches.ts';
import type { OperatorContext } from '../operator-context.ts';
import { findAppearances, withClosing, withLedgerState } from '../orders/appearances.ts';

/** Selects dead letters; a dead letter must match every filter that is given. */
export type DeadLetterFilter = {
  /** A batch's name, or the end of it. */
  batch?: string;
  kind?: DeadLetterKind;
  signature?: string;
  /** Those with one of these numbers, in any spelling. */
  orders?: ReadonlySet<string>;
  /** Those with one of these ids. */
  ids?: ReadonlySet<string>;
  /** Includes closed dead letters. */
  all: boolean;
  /** At most this many. */
  limit?: number;
};

const PAGE = 200;

/** Reads the list of a report's folder. */
type ReadList = (folder: string) => AsyncIterable<DeadLetter>;

/**
 * The dead letters of the environment that match, oldest batch first: from the reports, then from the ledger for
 * batches in progress. Keeps one page in memory.
 */
export async function* deadLetters(
  filter: DeadLetterFilter,
  context: OperatorContext,
  read: ReadList = readDeadLetters,
): AsyncGenerator<FoundDeadLetter> {
  let left = filter.limit ?? Number.POSITIVE_INFINITY;
  for await (const deadLetter of matching(filter, context, read)) {
    yield deadLetter;
    left -= 1;
    if (left <= 0) return;
  }
}

async function* matching(
  filter: DeadLetterFilter,
  context: OperatorContext,
  read: ReadList,
): AsyncGenerator<FoundDeadLetter> {
  const { batches, config } = context;
  const isWanted = matcherOf(filter, context.store.keys.keyOf);
  const reports = config.reports.path;
  // Before the reports: what is under way now is in one of both, also if it ends meanwhile.
  const underWay = new Map((await batches.underWay()).map((batch) => [batch.batch, batch]));
  const names = await namesOf(reports, filter);
  for (const name of filter.all ? names : await withoutSettled(names, context)) {
    const report = await readFinished(reports, name, config.environment);
    if (report === undefined) continue;
    // A batch whose report is there may still be under way, for instance because its file cannot be moved.
    underWay.delete(name);
    const batch = await batches.find(name);
    const isKnown = batch && !(await forgottenEnd(batch, config));
    const open = isKnown ? batch.open : countNeedingPerson(report.counts);
    if (open === 0 && !filter.all) continue;
    const closings = await batches.closings(name);
    // The signature is that of the last answer, which the ledger may know better.
    const { signature: _, ...rest } = filter;
    const isInReport = matcherOf(rest, context.store.keys.keyOf);
    const inReport = deadLettersIn(read(join(reports, name)), report, closings, isInReport);
    for await (const page of pages(inReport, PAGE)) {
      yield* (await withLedgerState(page, context)).filter(isWanted);
    }
  }
  const inProgress = [...underWay.values()];
  const closed = filter.all
    ? inProgress.filter(({ batch }) => batch.endsWith(filter.batch ?? ''))
    : [];
  for (const found of [
    deadLettersInProgress(context, inProgress),
    closedInProgress(context, closed),
  ])
    for await (const page of pages(found, PAGE))
      yield* (await withLedgerState(page, context)).filter(isWanted);
}

/**
 * Makes sure that the batch and the orders of a filter exist, so that a typo is not mistaken for "nothing to do". The name of a
 * file stands for its batch, if only one has it. Throws PoSyncError `batch-unknown`, `batch-ambiguous`, `order-unknown`.
 */
export async function checkFilter(
  filter: DeadLetterFilter,
  context: OperatorContext,
): Promise<DeadLetterFilter> {
  const { batch, orders = [] } = filter;
  const unknown: string[] = [];
  for (const order of orders) if (!(await isKnownOrder(order, context))) unknown.push(order);
  const [first, ...more] = unknown;
  if (first !== undefined) throw unknownOrder(first, context.config, more);
  if (batch === undefined || (await isKnownBatch(batch, context))) return filter;
  return { ...filter, batch: (await findBatch(batch, context.batches)).batch };
}

async function isKnownBatch(text: string, { batches, config }: OperatorContext): Promise<boolean> {
  if ((await namesOf(config.reports.path, { batch: text, all: true })).length > 0) return true;
  for await (const name of allNames(batches)) if (name.endsWith(text)) return true;
  return false;
}

async function isKnownOrder(order: string, context: OperatorContext): Promise<boolean> {
  const [known] = await context.ledger.lookup([order]);
  if (known !== undefined && known.kind !== 'nothing') return true;
  // Also where the report is gone.
  const { redis, keys } = context.store;
  if ((await redis.hexists(keys.waiting, keys.keyOf(order))) === 1) return true;
  // Discarded in a file that is in progress.
  if ((await context.ledger.operatorActions(order)).length > 0) return true;
  return (await findAppearances(order, context)).length > 0;
}

/**
 * Neither ledger nor reports contain this order number, and no person acted on it. `more`: other numbers that are not known
 * either.
 */
export function unknownOrder(
  order: string,
  { environment }: Pick<OperatorContext['config'], 'environment'>,
  more: readonly string[] = [],
): PoSyncError {
  const orders = [order, ...more].join(', ');
  return new PoSyncError(
    'order-unknown',
    `${more.length === 0 ? 'Order' : 'Orders'} ${orders} not found in ${environment}.`,
    {
      remedy:
        'Enter the complete number, as in the file, and check the environment. Orders of a file appear as they are read: po-sync status shows which files wait.',
      facts: { order, environment, ...(more.length > 0 && { orders }) },
    },
  );
}

async function namesOf(reports: string, { batch = '', ids }: DeadLetterFilter): Promise<string[]> {
  const named = ids && new Set([...ids].map((id) => splitId(id)[0]));
  const isNamed = (name: string) =>
    named === undefined || named.has(name) || named.has(name.slice(-8));
  return (await reportNames(reports)).filter((name) => name.endsWith(batch) && isNamed(name));
}

/** Without those of which Redis knows that nothing is open: there may be thousands of reports. */
async function withoutSettled(
  names: readonly string[],
  { store: { redis, keys } }: OperatorContext,
): Promise<string[]> {
  const left: string[] = [];
  for (let from = 0; from < names.length; from += PAGE) {
    const page = names.slice(from, from + PAGE);
    const known = await Promise.all(
      page.map((name) => redis.hmget(keys.batch(name), 'state', 'open')),
    );
    left.push(
      ...page.filter((_, i) => {
        const [state, open] = known[i] ?? [];
        return state !== 'done' || Number(open ?? 0) > 0;
      }),
    );
  }
  return left;
}

async function* deadLettersIn(
  list: AsyncIterable<DeadLetter>,
  { batch, source, file }: Report,
  closings: Closings,
  isWanted: (found: FoundDeadLetter) => boolean,
): AsyncGenerator<FoundDeadLetter> {
  try {
    for await (const deadLetter of list) {
      const found = { ...withClosing(deadLetter, closings), batch, source, file };
      if (isWanted(found)) yield found;
    }
  } catch (error) {
    // The report expired while it was read.
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** Whether a dead letter matches; its number may have another spelling than the one that is wanted. */
function matcherOf(filter: DeadLetterFilter, keyOf: KeyOf): (found: FoundDeadLetter) => boolean {
  const keys = filter.orders && new Set([...filter.orders].map(keyOf));
  return (found) =>
    matches(found, filter) && (keys === undefined || keys.has(keyOf(found.purchaseOrderNumber)));
}

function matches(deadLetter: FoundDeadLetter, filter: DeadLetterFilter): boolean {
  const { batch, kind, signature, ids, all } = filter;
  if (!all && deadLetter.closed !== undefined) return false;
  if (batch !== undefined && !deadLetter.batch.endsWith(batch)) return false;
  if (kind !== undefined && deadLetter.kind !== kind) return false;
  if (signature !== undefined && deadLetter.signature !== signature) return false;
  return ids === undefined || ids.has(deadLetter.id);
}
