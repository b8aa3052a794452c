import { iso } from '../core/format.ts';
import type { Batch, Batches } from '../ledger/batches.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { StoredResult } from '../ledger/stored-result.ts';
import type { CheckedOrder } from '../order/checked-order.ts';
import type { DeadLetter } from '../order/dead-letter.ts';
import type { OrderResult } from '../order/order-result.ts';
import { needsPerson } from '../order/outcome.ts';
import { createPager } from '../order/pager.ts';
import { deadLetterOf, deliveryDeadLetterOf } from '../report/dead-letters.ts';
import type { ReportedOrder } from '../report/write-report.ts';

const PAGE = 500;

/** Joins a finished batch's orders, read once more from its file, with what became of each. */
export async function* reportOrders(
  orders: AsyncIterable<CheckedOrder>,
  batch: Batch,
  deps: { batches: Batches; ledger: Ledger },
): AsyncGenerator<ReportedOrder> {
  const join = joiner(batch, deps);
  const pager = createPager(PAGE);
  for await (const order of orders) for (const page of pager.add(order)) yield* await join(page);
  yield* await join(pager.rest());
}

function joiner(batch: Batch, { batches, ledger }: { batches: Batches; ledger: Ledger }) {
  const checkedAt = iso(batch.startedAt);
  const names = new Map<number, string | undefined>();

  async function join(page: readonly CheckedOrder[]): Promise<ReportedOrder[]> {
    const [stored, known] = await Promise.all([
      batches.results(
        batch.batch,
        page.map(({ ordinal }) => ordinal),
      ),
      ledger.lookup(page.map(({ number }) => number)),
    ]);
    return Promise.all(
      page.map(async (order, i) => {
        const result = stored[i];
        if (!order.valid) return result ? knownBefore(order, result) : invalid(order);
        if (result) return withStored(order, result);
        const one = known[i];
        if (one?.kind === 'accepted' && one.compact.batchNo === batch.no) {
          return { order, result: line(order, 'accepted', one.compact.attempts, iso(one.compact.at), '', '') };
        }
        const message = await sameAs(
          one?.kind === 'accepted' ? one.compact.batchNo : one?.kind === 'open' ? one.entry.batchNo : 0,
        );
        return { order, result: line(order, 'duplicate', 0, checkedAt, 'duplicate', message) };
      }),
    );
  }

  function invalid(order: CheckedOrder & { valid: false }): ReportedOrder {
    const deadLetter = deadLetterOf(order, checkedAt);
    return { order, result: line(order, 'invalid', 0, checkedAt, deadLetter.code, deadLetter.message), deadLetter };
  }

  /** An export's wrong order that was told before: counted as a duplicate, no dead letter of its own. */
  function knownBefore(order: CheckedOrder, { outcome, at, code, message }: StoredResult): ReportedOrder {
    return { order, result: line(order, outcome, 0, iso(at), code, message) };
  }

  async function sameAs(no: number): Promise<string> {
    if (!names.has(no)) names.set(no, await batches.nameOf(no));
    const name = names.get(no);
    return name === undefined ? 'the API had this order before' : `the same order is in batch ${name}`;
  }

  return join;
}

function withStored(order: CheckedOrder & { valid: true }, stored: StoredResult): ReportedOrder {
  const { outcome, attempts, at, code, message } = stored;
  const result = line(order, outcome, attempts, iso(at), code, message);
  if (!needsPerson(outcome)) return { order, result };
  const times = { firstAt: iso(stored.firstAt ?? at), lastAt: iso(at) };
  const deadLetter: DeadLetter = deliveryDeadLetterOf(order, { ...stored, ...times, kind: outcome });
  return { order, result, deadLetter };
}

function line(
  { number, place }: CheckedOrder,
  outcome: OrderResult['outcome'],
  attempts: number,
  at: string,
  code: string,
  message: string,
): OrderResult {
  return { line: place.line, purchaseOrderNumber: number, outcome, attempts, at, code, message };
}
