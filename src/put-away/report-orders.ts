import { iso } from '../core/format.ts';
import type { Inspection } from '../correct/inspection.ts';
import { inspectAs } from '../correct/read-as.ts';
import { readOrders } from '../correct/read-orders.ts';
import type { Batch } from '../ledger/batches/batches.ts';
import type { Known, StoredResult } from '../ledger/entry.ts';
import { createdTwice } from '../ledger/ledger.ts';
import {
  type CheckedOrder,
  createPager,
  type InvalidOrder,
  type Order,
  type ValidOrder,
} from '../order/order.ts';
import { DUPLICATE, needsPerson, type OrderResult } from '../order/outcome.ts';
import type { Reason } from '../order/problem.ts';
import { sentence } from '../order/sentence.ts';
import { atApiOf } from '../report/answer.ts';
import { deadLetterOf, deliveryDeadLetterOf } from '../report/dead-letters.ts';
import { leftOutTexts, watchLeftOut } from '../report/left-out.ts';
import type { ReportedOrder } from '../report/write-report.ts';
import { problemsText, reasonText } from '../wording/problem.ts';
import {
  contentInProgress,
  createTitles,
  isElsewhere,
  withKnownNumber,
  wordsOfDuplicate,
} from './known-content.ts';
import type { SettlementContext } from './put-batch-away.ts';

const PAGE = 500;

type Deps = Pick<SettlementContext['side'], 'batches' | 'ledger'>;

/**
 * The orders of a file that could be read, with their results. After the last order, `leftOut` finds those that `skip` left
 * out although they were sent.
 */
export async function ordersOf(batch: Batch, context: SettlementContext) {
  const { config, inspections, side } = context;
  const inspection =
    inspections.get(batch.batch) ?? (await inspectAs(batch, { config, ...side })).inspection;
  const watch = watchLeftOut(side.ledger);
  const read = readOrders(batch.path, inspection, { onLeftOut: watch.add });
  return {
    orders: reportOrders(without(read, watch), batch, side),
    leftOut: () => findLeftOut(watch, batch, inspection, context),
  };
}

type LeftOutWatch = ReturnType<typeof watchLeftOut>;

/** Passes the orders on. */
async function* without(
  orders: AsyncIterable<CheckedOrder>,
  watch: LeftOutWatch,
): AsyncGenerator<CheckedOrder> {
  for await (const order of orders) {
    watch.keeps(order.number);
    yield order;
  }
}

/** An export shows its orders with every version: each is named once. */
async function findLeftOut(
  watch: LeftOutWatch,
  batch: Batch,
  read: Inspection,
  { side, store }: SettlementContext,
) {
  const { batch: name, source, kind, inspection } = batch;
  const { redis, keys } = store;
  const sent = await watch.sent();
  const said =
    kind === 'export' && sent.length > 0 ? await redis.hgetall(keys.leftOut(source)) : {};
  const fresh = new Map(
    sent
      .filter(({ purchaseOrderNumber: one }) => (said[one] ?? name) === name)
      .map((one) => [one.purchaseOrderNumber, one]),
  );
  // The other rows of an order may be far above the one that is left out.
  if (fresh.size > 0)
    for await (const { number } of readOrders(batch.path, read)) fresh.delete(number);
  if (kind === 'export' && fresh.size > 0)
    await redis.hset(
      keys.leftOut(source),
      Object.fromEntries([...fresh.keys()].map((one) => [one, name])),
    );
  const found = watch.reported([...fresh.values()]);
  if (found === undefined || inspection === undefined) return found;
  const warnings = new Set([...leftOutTexts(found), ...inspection.warnings]);
  await side.batches.inspected(name, { ...inspection, warnings: [...warnings] });
  return found;
}

/** Joins the orders of a finished batch, read again from its file, with their results. */
export async function* reportOrders(
  orders: AsyncIterable<CheckedOrder>,
  batch: Batch,
  deps: Deps,
): AsyncGenerator<ReportedOrder> {
  const join = createJoin(batch, deps);
  const pager = createPager(PAGE);
  for await (const order of orders) for (const page of pager.add(order)) yield* await join(page);
  yield* await join(pager.rest());
}

/** Builds the step that joins a page of orders with their results. */
function createJoin(batch: Batch, deps: Deps) {
  const { batches, ledger } = deps;
  const checkedAt = iso(batch.startedAt);
  const titleOf = createTitles(batches);

  async function join(page: readonly CheckedOrder[]): Promise<ReportedOrder[]> {
    const ordinals = page.map(({ ordinal }) => ordinal);
    const numbers = page.map(({ number }) => number);
    const [stored, known, times] = await Promise.all([
      batches.results(batch.batch, ordinals),
      ledger.lookup(numbers),
      ledger.listedTwice.timesOf(numbers),
    ]);
    const joined = page.map((order, i) => joinOne(order, stored[i], known[i]));
    return (await Promise.all(joined)).map((one, i) => {
      return { ...withTimes(one, times[i]), atApi: atApiOf(known[i] ?? { kind: 'nothing' }) };
    });
  }

  async function joinOne(
    order: CheckedOrder,
    stored: StoredResult | undefined,
    known: Known | undefined,
  ): Promise<ReportedOrder> {
    const content = contentInProgress(known, batch, order.ordinal);
    if (!order.valid) {
      if (stored !== undefined && stored.outcome !== 'invalid')
        return withoutDeadLetter(order, stored);
      if (!isElsewhere(known, batch)) return invalid(batch, order, checkedAt);
      const from = await titleOf(known);
      return invalid(batch, withKnownNumber(order, known, from, content), checkedAt);
    }
    if (stored)
      return withStored(
        batch,
        order,
        { ...stored, ...wordsOfDuplicate(stored, known, batch) } as StoredResult,
        content,
      );
    if (known?.kind === 'accepted' && known.compact.batchNo === batch.no) {
      const { attempts, at } = known.compact;
      return {
        order,
        result: resultOf(order, {
          outcome: 'accepted',
          attempts,
          at: iso(at),
          code: '',
          message: sentence(''),
        }),
      };
    }
    const from = await titleOf(known);
    const reason = { code: DUPLICATE, facts: { from } };
    const { code, facts } = wordsOfDuplicate(reason, known, batch) ?? reason;
    const message = reasonText({ code, facts } as Reason);
    const result = { outcome: DUPLICATE, attempts: 0, at: checkedAt, code, message };
    return { order, result: resultOf(order, result) };
  }

  return join;
}

/** An order that po-sync created, and that the API's list shows more than once. */
function withTimes(
  { order, result, ...rest }: ReportedOrder,
  times: number | undefined,
): ReportedOrder {
  const isOurs = times !== undefined && result.outcome === 'accepted';
  return {
    order,
    result: isOurs ? { ...result, ...written(createdTwice(times)) } : result,
    ...rest,
  };
}

function invalid({ batch }: Batch, order: InvalidOrder, checkedAt: string): ReportedOrder {
  const deadLetter = deadLetterOf(batch, order, checkedAt);
  const { code } = deadLetter;
  const { problems } = order;
  const message = problems.length > 0 ? problemsText(problems, SHOWN_PROBLEMS) : deadLetter.message;
  const result = resultOf(order, { outcome: 'invalid', attempts: 0, at: checkedAt, code, message });
  return { order, result, deadLetter };
}

/** In `results.csv`; `dead-letters.json` has all problems. */
const SHOWN_PROBLEMS = 3;

/** An invalid order that was seen before counts as a duplicate and has no separate dead letter. */
function withoutDeadLetter(
  order: CheckedOrder,
  { outcome, at, ...reason }: StoredResult,
): ReportedOrder {
  const result = { outcome, attempts: 0, at: iso(at), ...written(reason) };
  return { order, result: resultOf(order, result) };
}

/** A reason as `results.csv` has it. */
export function written(reason: Reason): Pick<OrderResult, 'code' | 'message'> {
  return { code: reason.code, message: reasonText(reason) };
}

/** `content` is the known content of a conflict's number. */
function withStored(
  { batch }: Batch,
  order: ValidOrder,
  stored: StoredResult,
  content: Order | undefined,
): ReportedOrder {
  const { outcome, attempts, at } = stored;
  const result = resultOf(order, { outcome, attempts, at: iso(at), ...written(stored) });
  if (!needsPerson(outcome)) return { order, result };
  const times = { firstAt: iso(stored.firstAt ?? at), lastAt: iso(at) };
  const known = stored.known ? { ...order.order, items: [...stored.known.items] } : content;
  return {
    order,
    result,
    deadLetter: deliveryDeadLetterOf(batch, order, { ...stored, ...times, kind: outcome, known }),
  };
}

function resultOf(
  { number, place }: CheckedOrder,
  result: Omit<OrderResult, 'line' | 'purchaseOrderNumber'>,
): OrderResult {
  return { line: place.line, purchaseOrderNumber: number, ...result };
}
