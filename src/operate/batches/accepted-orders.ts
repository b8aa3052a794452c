import { join } from 'node:path';
import { codeOf, PoSyncError } from '../../core/errors.ts';
import { counted, iso } from '../../core/format.ts';
import type { Known } from '../../ledger/entry.ts';
import { settledOrders } from '../../ledger/retention.ts';
import { endOf } from '../../order/closing-text.ts';
import { type Closed, closingsOf, type DeadLetter } from '../../order/dead-letter.ts';
import { FOUND_THERE, needsPerson, type OrderResult } from '../../order/outcome.ts';
import { readDeadLetters } from '../../report/dead-letters.ts';
import { pages } from '../../report/lines.ts';
import { readResults } from '../../report/results.ts';
import type { OperatorContext } from '../operator-context.ts';
import { withClosing } from '../orders/appearances.ts';

/**
 * A finished batch whose orders are listed. `hasLetters`: some of them needed a person; `kept`: its accepted orders as the
 * ledger has them, where its report is lost.
 */
export type ListedBatch = {
  batch: string;
  file: string;
  hasLetters: boolean;
  kept?: readonly OrderResult[];
};

/** `accepted`: how many of its orders the API took at first. */
export type Counted = ListedBatch & { accepted: number };

export type ListContext = Pick<OperatorContext, 'batches' | 'config'>;

export type LedgerContext = ListContext & Pick<OperatorContext, 'store'>;

type Listed = { result: OrderResult; closed: Closed | undefined };

/** The orders of a batch. Both files of its report have them in the order of the file. */
export async function* resultsOf(
  { batch, hasLetters, kept }: ListedBatch,
  { config, batches }: ListContext,
): AsyncGenerator<Listed> {
  if (kept !== undefined) {
    for (const result of kept) yield { result, closed: undefined };
    return;
  }
  const folder = join(config.reports.path, batch);
  const closings = closingsOf(hasLetters ? await batches.closings(batch) : []);
  const letters = hasLetters ? readDeadLetters(folder) : undefined;
  try {
    let letter = await nextOf(letters);
    for await (const result of readResults(join(folder, 'results.csv'))) {
      if (letter === undefined || !isOf(letter, result)) {
        yield { result, closed: undefined };
        continue;
      }
      yield { result, closed: withClosing(letter, closings).closed };
      letter = await nextOf(letters);
    }
  } finally {
    await letters?.return(undefined);
  }
}

async function nextOf(
  letters: AsyncGenerator<DeadLetter> | undefined,
): Promise<DeadLetter | undefined> {
  const next = await letters?.next();
  return next?.done ? undefined : next?.value;
}

function isOf({ purchaseOrderNumber, location }: DeadLetter, result: OrderResult): boolean {
  const isSame =
    location.line === result.line && purchaseOrderNumber === result.purchaseOrderNumber;
  return isSame && needsPerson(result.outcome);
}

/**
 * These batches, whose reports are lost, with their accepted orders from the ledger; without those of which the ledger has
 * fewer than were accepted. Reads the complete ledger. PoSyncError `order-list-too-large`.
 */
export async function keptInLedger(lost: readonly Counted[], { batches, store }: LedgerContext) {
  const numbers = await Promise.all(lost.map(async ({ batch }) => (await batches.find(batch))?.no));
  const orders = new Map(numbers.map((no) => [no, [] as OrderResult[]]));
  let taken = 0;
  if (lost.length > 0) {
    for await (const [purchaseOrderNumber, { batchNo, at, attempts }] of settledOrders(store)) {
      const more = orders.get(batchNo);
      if (more === undefined) continue;
      more.push({
        line: 0,
        purchaseOrderNumber,
        outcome: 'accepted',
        attempts,
        at: iso(at),
        code: '',
        message: LOST,
      });
      taken += 1;
      if (taken > MOST_FOUND) throw tooMany(MOST_FOUND);
    }
  }
  return lost.flatMap((one, i): Counted[] => {
    const kept = orders.get(numbers[i])?.sort((a, b) => (a.at < b.at ? -1 : 1)) ?? [];
    return numbers[i] === undefined || kept.length < one.accepted
      ? []
      : [{ ...one, hasLetters: false, kept }];
  });
}

/** Where a report was: the ledger knows that the API took the order, and not its line. */
const LOST = 'its report is lost; the ledger has it';

/** How the API came to have an order that needed a person: it took it, or a person or its list said so. */
const ACCEPTED = ['accepted', 'confirmed', 'rebuilt'];

/** When the order that this batch brought was accepted, also when it was sent again later; undefined if it was not. */
function acceptedAt(
  { batch }: Pick<ListedBatch, 'batch'>,
  { result: { outcome, at }, closed }: Listed,
) {
  if (outcome === 'accepted') return at;
  const end = closed && endOf(closed);
  return end && ACCEPTED.includes(end.by) && (end.batch ?? batch) === batch ? end.at : undefined;
}

/**
 * Orders that the API has, and that no report says po-sync sent, such as those that a restored ledger learns from the API's
 * list. Each with the one batch that lists it: the first that has it as a duplicate, else the
 * first in which it needs a person.
 */
export type FoundOrders = Map<string, string>;

/** A batch with the number of its orders that were known before. */
type Kept = ListedBatch & { duplicates: number };

type FoundContext = ListContext & Pick<OperatorContext, 'ledger'>;

/** Orders that are looked up together. */
const LOOKUP = 5_000;
/** Of which the list is made in memory: about 50 MB. */
const MOST_FOUND = 500_000;

/**
 * The found orders that `listed` lists. `kept`: all finished batches, the oldest first, because a batch of another day may
 * have sent an order, or lists it already. Reads each report once more, and only if there are such orders. PoSyncError
 * `order-list-too-large`.
 */
export async function foundOrders(
  listed: readonly Kept[],
  kept: readonly Kept[],
  context: FoundContext,
  most = MOST_FOUND,
): Promise<FoundOrders> {
  const wanted = await wantedIn(listed, context, most);
  const found: FoundOrders = new Map();
  // Those that were only seen in rows that a person has to correct: another file shows better what the API has.
  const wrong = new Set<string>();
  const names = new Set(listed.map(({ batch }) => batch));
  if (wanted.size === 0) return found;
  for (const one of kept) {
    for await (const order of untilGone(resultsOf(one, context))) {
      const number = order.result.purchaseOrderNumber;
      if (!wanted.has(number)) continue;
      if (acceptedAt(one, order) !== undefined) {
        wanted.delete(number);
        found.delete(number);
      } else if (
        mayBeFound(order.result) &&
        (!found.has(number) || (wrong.has(number) && isDuplicate(order.result)))
      ) {
        found.set(number, one.batch);
        if (isDuplicate(order.result)) wrong.delete(number);
        else wrong.add(number);
      }
    }
  }
  for (const [number, batch] of found) if (!names.has(batch)) found.delete(number);
  return found;
}

/** `line`: of its batch. `at`: when the API accepted it, or it became known that it had. */
export type AcceptedOrder = { number: string; line: number; at: string; sender: string };

/** The orders that a batch brought and that the API has. */
export async function* acceptedIn(
  one: ListedBatch,
  found: FoundOrders,
  context: ListContext,
): AsyncGenerator<AcceptedOrder> {
  for await (const order of resultsOf(one, context)) {
    const { purchaseOrderNumber: number, line } = order.result;
    const as = acceptedAs(one, order, found);
    if (as !== undefined) yield { number, line, ...as };
  }
}

/** As which order of this batch the list of accepted orders has it, each number once; undefined if it does not. */
export function acceptedAs(one: ListedBatch, order: Listed, found: FoundOrders) {
  const at = acceptedAt(one, order);
  if (at !== undefined) return { at, sender: '' };
  const { result } = order;
  const isListed = mayBeFound(result) && found.get(result.purchaseOrderNumber) === one.batch;
  // A file may have the same order twice.
  return isListed && found.delete(result.purchaseOrderNumber)
    ? { at: result.at, sender: 'unknown' }
    : undefined;
}

/** The API had it already, or a person has to correct it: after a restore, the correction of before may be at the API. */
function mayBeFound(result: OrderResult): boolean {
  return isDuplicate(result) || (result.purchaseOrderNumber !== '' && needsPerson(result.outcome));
}

function isDuplicate({ outcome, message }: OrderResult): boolean {
  return outcome === 'duplicate' && message === FOUND_THERE;
}

/** A batch whose report expired says the same of orders that po-sync sent: the ledger knows them. */
async function wantedIn(
  listed: readonly Kept[],
  context: FoundContext,
  most: number,
): Promise<Set<string>> {
  const wanted = new Set<string>();
  for (const one of listed) {
    if (one.duplicates === 0 && !one.hasLetters) continue;
    for await (const page of pages(mayBeFoundIn(one, context), LOOKUP)) {
      const isNew = page.filter(({ purchaseOrderNumber }) => !wanted.has(purchaseOrderNumber));
      const known = await context.ledger.lookup(
        isNew.map(({ purchaseOrderNumber }) => purchaseOrderNumber),
      );
      for (const [i, result] of isNew.entries()) {
        if (isAtApi(result, known[i])) wanted.add(result.purchaseOrderNumber);
      }
      if (wanted.size > most) throw tooMany(most);
    }
  }
  return wanted;
}

/** Whether the API has an order that po-sync did not send, as far as the ledger knows. */
function isAtApi(result: OrderResult, known: Known | undefined): boolean {
  if (known?.kind === 'accepted') return known.compact.batchNo === 0;
  return isDuplicate(result);
}

async function* mayBeFoundIn(one: ListedBatch, context: ListContext): AsyncGenerator<OrderResult> {
  for await (const { result } of resultsOf(one, context)) if (mayBeFound(result)) yield result;
}

/** Reports of other days may be gone. */
async function* untilGone<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* items;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

function tooMany(most: number): PoSyncError {
  return new PoSyncError(
    'order-list-too-large',
    `These files have more than ${counted(most, 'order')} at the API that no report says po-sync sent.`,
    { remedy: 'Select fewer days or a source, or list all orders with their outcomes.' },
  );
}
