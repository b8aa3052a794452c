import type { OutcomeCounts } from '../../order/outcome.ts';
import type { Sentence } from '../../order/sentence.ts';
import type { Log } from '../log.ts';

type Named = { batch: string; source: string; file: string };

/** The first pass reached the end of the file without a structural error. */
export function fileInspected(log: Log, facts: Named & { records: number; bytes: number }): void {
  log.info({ event: 'file-inspected', ...facts }, 'file is readable');
}

/** Every order of the file is in the ledger. */
export function batchAdmitted(log: Log, facts: Named & { orders: number }): void {
  log.meter?.file(facts.source, 'admitted');
  log.info({ event: 'batch-admitted', ...facts }, 'all orders of the file are in the ledger');
}

/** More orders of an unfinished batch are done than ten seconds ago. `records`: until the number of `orders` is known. */
export function batchProgress(
  log: Log,
  facts: Named & { done: number; orders?: number; records?: number },
): void {
  log.info({ event: 'batch-progress', ...facts }, 'batch in progress');
}

/** The file cannot be read as orders. */
export function batchUnreadable(
  log: Log,
  facts: Named & { code: string; reason: string },
  { someAdmitted }: { someAdmitted: boolean },
): void {
  log.meter?.file(facts.source, 'unreadable');
  const rest = someAdmitted ? 'no more of its orders are admitted' : 'none of its orders are sent';
  log.warn({ event: 'batch-unreadable', ...facts }, `file is unreadable; ${rest}`);
}

type Finished = {
  orders: number;
  needPerson: number;
  durationMs: number;
  report: string;
};

/**
 * The last order of the batch has its outcome and the report is written. Also a field for each outcome, such as `accepted`.
 * `leftOut`: sent orders that `skip` left out. `reason`: why its file cannot be read.
 */
export function batchFinished(
  log: Log,
  facts: Named & Finished & OutcomeCounts & { leftOut?: number; reason?: string },
  { isUnreadable }: { isUnreadable: boolean },
): void {
  log.meter?.file(facts.source, 'finished');
  log.tracer?.finished(facts);
  const line = { event: 'batch-finished', ...facts };
  if (isUnreadable)
    log.warn(line, 'batch finished; its file is unreadable, correct it and drop it again');
  else if (facts.needPerson > 0) log.warn(line, 'batch finished; some orders need a person');
  else log.info(line, 'batch finished');
}

/** The file was changed after its last order was admitted; what changed is not sent. */
export function fileChanged(log: Log, facts: Named & { reason: string }): void {
  log.meter?.file(facts.source, 'unreadable');
  log.warn(
    { event: 'file-changed-after-read', ...facts },
    'file was changed after it was read; drop it again',
  );
}

/** An order of the file needs a person: it failed a check, or its number is known with other content. */
export function orderNotAdmitted(
  log: Log,
  facts: {
    batch: string;
    order: string;
    line: number;
    outcome: string;
    code: string;
    reason: Sentence | undefined;
  },
): void {
  const { batch, order, line, outcome, code } = facts;
  const traced = { batch, order: { purchaseOrderNumber: order }, place: { line } };
  log.tracer?.settled(traced, outcome, code);
  log.info({ event: 'order-not-admitted', ...facts }, 'order needs a person');
}

/** The API refused too many orders of the batch in the same way; the rest waits for an operator. */
export function batchHeld(log: Log, facts: { batch: string; reason: Sentence }): void {
  log.warn(
    { event: 'batch-held', ...facts },
    'batch held; run po-sync batches release or po-sync batches cancel',
  );
}

/** Takes over an unfinished batch whose daemon has ended. */
export function batchTakenUp(log: Log, facts: Named): void {
  log.info({ event: 'batch-resumed', ...facts }, 'unfinished batch resumed');
}

/** A step with a file or report failed. */
export function batchTrouble(log: Log, facts: { batch: string; reason: string }): void {
  log.warn({ event: 'batch-trouble', ...facts }, 'a step of the batch failed, will retry');
}

/** Decisions of people that Redis did not have were done again. */
export function decisionsRepeated(log: Log, facts: { decisions: number }): void {
  log.info({ event: 'decisions-repeated', ...facts }, 'decisions that Redis lost are done again');
}

/** A decision that Redis lost no longer fits what is known now. */
export function decisionNotRepeated(
  log: Log,
  facts: { what: string; on: string; who: string; reason: string },
): void {
  log.warn(
    { event: 'decision-not-repeated', ...facts },
    'a decision that Redis lost is not done again; decide again if it is still wanted',
  );
}

/** Old reports or day folders were removed. */
export function reportsExpired(log: Log, facts: { removed: number; durationMs: number }): void {
  log.info({ event: 'reports-expired', ...facts }, 'old reports removed');
}

/** An old report could not be removed. */
export function expiryFailed(log: Log, facts: { path: string; error: string }): void {
  log.warn({ event: 'expiry-failed', ...facts }, 'old report could not be removed, will retry');
}
