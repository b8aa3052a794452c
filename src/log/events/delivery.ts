import type { Sentence } from '../../order/sentence.ts';
import type { Log } from '../log.ts';
import type { TracedOrder } from '../tracer.ts';

type Attempt = {
  batch: string;
  order: string;
  attempt: number;
  durationMs: number;
  outcome: string;
  code?: string;
  reason?: string;
};

/** What an attempt that did not succeed means for its order. */
const ENDINGS: Readonly<Record<string, string>> = {
  unsent: 'attempt was not sent, will retry',
  unauthorized: 'token was not accepted, will retry with a new one',
  closed: 'API accepts no orders now, will retry',
  busy: 'API asks to wait, will retry',
  unknown: "answer is unclear, the API's list will show whether the order was created",
};

/** One attempt of an order ended. A refusal is at `debug`, because `order-dead` follows it. */
export function attemptEnded(log: Log, facts: Attempt, order: TracedOrder): void {
  log.meter?.attempt(facts.outcome);
  log.tracer?.attempt(order, facts);
  const line = { event: 'attempt-ended', ...facts };
  if (facts.outcome === 'accepted') log.debug(line, 'order accepted');
  else if (facts.outcome === 'refused') log.debug(line, 'order refused by the API');
  else if (facts.outcome === 'misnamed') log.debug(line, 'the API named another number');
  else log.info(line, ENDINGS[facts.outcome] ?? 'attempt ended');
}

/** An order became a dead letter: at admission, after an attempt, or because of the API's list. */
export function orderDead(
  log: Log,
  facts: { batch: string; order: string; outcome: string; reason: string },
): void {
  log.warn({ event: 'order-dead', ...facts }, 'order needs a person');
}

/**
 * The API's list showed that an order in doubt is accepted, or that it is absent and is sent again (`retry`).
 */
export function doubtSettled(
  log: Log,
  facts: { batch: string; order: string; outcome: string },
): void {
  const line = { event: 'doubt-settled', ...facts };
  if (facts.outcome === 'retry')
    log.info(
      line,
      "the API's list does not show the order; it is sent again, unless its file was cancelled",
    );
  else log.info(line, "order in doubt settled by the API's list");
}

/**
 * An order that was being sent, or waited for its turn, when its file was cancelled, or that Redis has again from before a
 * person discarded it or its file ended. `who`: empty where nobody did it.
 */
export function orderWithdrawn(
  log: Log,
  facts: { batch: string; order: string },
  { what, who }: { what: string; who: string },
): void {
  if (who === '') {
    const text =
      'the file of the order had ended before Redis lost that; the order ends as the report of the file says';
    log.info({ event: 'order-withdrawn', ...facts, what: 'ended' }, text);
    return;
  }
  const why =
    what === 'discarded'
      ? 'a person discarded the order before Redis lost that'
      : 'the file of the order was cancelled';
  log.info({ event: 'order-withdrawn', ...facts, what, who }, `${why}; the order is not sent`);
}

/** The API's list shows an order more than once. */
export function orderCreatedTwice(
  log: Log,
  facts: { batch?: string; order: string; times: number },
): void {
  log.warn(
    { event: 'order-created-twice', ...facts },
    "the API's list shows the order more than once: it was created twice",
  );
}

/** One list call about `asked` orders in doubt ended. At `debug` if it is one of a series that settles nothing. */
export function listRead(
  log: Log,
  facts: { orders: number; asked: number; durationMs: number; outcome: string; reason?: string },
  isNews: boolean,
): void {
  const line = { event: 'list-read', ...facts };
  const isComplete = facts.outcome === 'complete';
  const says = `API's list ${isComplete ? 'read' : 'could not be read'} for orders in doubt`;
  if (isNews && isComplete) log.info(line, says);
  else if (isNews) log.warn(line, says);
  else log.debug(line, says);
}

/**
 * One list call for files that wait for it ended; `added`: orders that are new to the ledger. At `debug` if it is one of a
 * series with the same end.
 */
export function fileListRead(
  log: Log,
  facts: { orders: number; added: number; durationMs: number; outcome: string; reason?: string },
  isNews: boolean,
): void {
  const line = { event: 'file-list-read', ...facts };
  if (!isNews) log.debug(line, "API's list asked for new files");
  else if (facts.outcome === 'complete')
    log.info(line, "API's list read before the orders of new files");
  else log.warn(line, "API's list could not be read; the orders of new files wait for it");
}

/** Delivery to the environment pauses. Logged once a pause. */
export function deliveryPaused(
  log: Log,
  facts: { environment: string; code: string; reason: Sentence },
): void {
  log.meter?.pause(facts.code);
  log.warn({ event: 'delivery-paused', ...facts }, 'delivery paused');
}

/** Delivery stays paused, now for another reason. */
export function pauseChanged(
  log: Log,
  facts: {
    environment: string;
    code: string;
    reason: Sentence;
    formerCode: string;
  },
): void {
  log.warn(
    { event: 'delivery-pause-changed', ...facts },
    'delivery stays paused for another reason',
  );
}

/** The pause ended. `code` and `reason` are the latest of the pause. */
export function deliveryResumed(
  log: Log,
  facts: { environment: string; code: string; reason: Sentence; durationMs: number },
): void {
  log.info({ event: 'delivery-resumed', ...facts }, 'delivery resumed after this pause');
}

/** A new token was fetched. Never logs its value. */
export function tokenRenewed(log: Log, facts: { environment: string; lifetimeMs: number }): void {
  log.meter?.token('issued');
  log.info({ event: 'token-renewed', ...facts }, 'token renewed');
}

/** The sweeper found orders in the ledger that the queue had lost. */
export function ordersSwept(log: Log, facts: { orders: number }): void {
  log.warn({ event: 'orders-requeued', ...facts }, 'orders put back into the queue');
}

/** A step of delivery failed. */
export function deliveryTrouble(log: Log, facts: { reason: string }): void {
  log.warn({ event: 'delivery-trouble', ...facts }, 'a step of delivery failed, will retry');
}

/** This process or Redis did not answer for so long that the queue gave a job to another worker. The ledger decides about its orders. */
export function jobTakenBack(log: Log): void {
  log.info(
    { event: 'job-taken-back' },
    'the queue took a job back, because this daemon or Redis did not answer for 10 s; no order is lost or sent twice',
  );
}

/** Redis cannot be reached or answers with errors. */
export function redisTrouble(log: Log, facts: { reason: string }): void {
  log.warn({ event: 'redis-trouble', ...facts }, 'Redis is not available, waiting for it');
}

/** Redis takes writes again. `durationMs`: since the trouble that was reported first. */
export function redisBack(log: Log, facts: { durationMs: number }): void {
  log.info({ event: 'redis-back', ...facts }, 'Redis works again');
}

/** The orders of the API's list are in the ledger. */
export function ledgerRebuilt(log: Log, facts: { orders: number; added: number }): void {
  log.info({ event: 'ledger-rebuilt', ...facts }, "ledger rebuilt from the API's list");
}

/** The API offers no list, so the ledger does not know what the API already has. */
export function rebuildImpossible(log: Log, facts: { reason: string }): void {
  log.warn(
    { event: 'ledger-rebuild-impossible', ...facts },
    'the API offers no list; orders that it already has are not recognized',
  );
}

/** Redis lost a part of the ledger, or may lack one because the folder `data` was copied or restored. */
export function ledgerRolledBack(log: Log, facts: { environment: string; reason: Sentence }): void {
  log.error(
    { event: 'ledger-rolled-back', ...facts },
    "the ledger does not know all that was sent; nothing is sent until the API's list has been read",
  );
}

/** Settled orders that no source has shown for longer than `ledger.keep` were removed from the ledger. */
export function ordersForgotten(log: Log, facts: { orders: number }): void {
  log.info(
    { event: 'orders-forgotten', ...facts },
    'orders older than ledger.keep removed from the ledger',
  );
}
