import type { Log } from '../log/log.ts';

/** An order's attempt ended; `outcome` is what it showed. */
export function attemptEnded(
  log: Log,
  facts: {
    batch: string;
    order: string;
    attempt: number;
    durationMs: number;
    outcome: string;
    code?: string;
    reason?: string;
  },
): void {
  if (facts.outcome === 'accepted') log.debug(facts, 'order accepted');
  else if (facts.outcome === 'refused') log.warn(facts, 'order refused by the API');
  else log.info(facts, 'attempt says nothing final');
}

/** An order was given up and waits for a person. */
export function orderDead(log: Log, facts: { batch: string; order: string; outcome: string; reason: string }): void {
  log.warn(facts, 'order needs a person');
}

/** Verification found out what became of an order in doubt. */
export function doubtSettled(log: Log, facts: { batch: string; order: string; outcome: string }): void {
  log.info(facts, 'order in doubt settled by the list');
}

/** One list call about orders in doubt ended. */
export function listRead(
  log: Log,
  facts: { orders: number; asked: number; durationMs: number; outcome: string },
): void {
  log.info(facts, 'list read about orders in doubt');
}

/** Delivery of the environment pauses: one line at its start. */
export function deliveryPaused(log: Log, facts: { environment: string; code: string; reason: string }): void {
  log.warn(facts, 'delivery paused; it goes on by itself when the API lets it');
}

/** And one at its end. */
export function deliveryResumed(log: Log, facts: { environment: string; code: string; durationMs: number }): void {
  log.info(facts, 'delivery goes on');
}

/** A new token was fetched; never its value. */
export function tokenRenewed(log: Log, facts: { environment: string; lifetimeMs: number }): void {
  log.info(facts, 'token renewed');
}

/** The sweeper put orders back that the queue had lost. */
export function ordersSwept(log: Log, facts: { orders: number }): void {
  log.warn(facts, 'orders put back into the queue');
}

/** Something of the way failed that is tried again by itself. */
export function deliveryTrouble(log: Log, facts: { reason: string }): void {
  log.warn(facts, 'delivery had trouble; it is tried again');
}

/** Redis is away or answers with errors. */
export function redisTrouble(log: Log, facts: { reason: string }): void {
  log.warn(facts, 'trouble with Redis; waiting for it');
}

/** What the API already has was taken into the ledger. */
export function ledgerRebuilt(log: Log, facts: { orders: number; added: number }): void {
  log.info(facts, "the API's orders are known to the ledger");
}

/** The list cannot be had, so what the API already has stays unknown. */
export function rebuildImpossible(log: Log, facts: { reason: string }): void {
  log.warn(facts, "the API's list cannot be had; orders that it already has are not recognised");
}

/** Redis forgot part of the ledger. */
export function ledgerRolledBack(log: Log, facts: { environment: string }): void {
  log.error(facts, 'Redis knows less of the orders than it did; nothing is sent until the list was read');
}

/** Settled orders that no source has shown for longer than `ledger.keep` are known no more. */
export function ordersForgotten(log: Log, facts: { orders: number }): void {
  log.info(facts, 'orders over the horizon of the ledger forgotten');
}
