import type { OutcomeCounts } from '../../order/outcome.ts';
import type { Sentence } from '../../order/sentence.ts';
import { event, info, warn } from '../event.ts';

type Named = { batch: string; source: string; file: string };

/** The first pass reached the end of the file without a structural error. */
export const fileInspected = info<Named & { records: number; bytes: number }>('file-inspected');

/** Every order of the file is in the ledger. */
export const batchAdmitted = info<Named & { orders: number }>('batch-admitted', (log, facts) =>
  log.meter?.file(facts.source, 'admitted'),
);

/** More orders of an unfinished batch are done than ten seconds ago. `records`: until the number of `orders` is known. */
export const batchProgress = info<Named & { done: number; orders?: number; records?: number }>(
  'batch-progress',
);

/** The file cannot be read as orders. */
export const batchUnreadable = warn<Named & { code: string; reason: string }>(
  'batch-unreadable',
  (log, { source }) => log.meter?.file(source, 'unreadable'),
);

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
export const batchFinished = event<
  Named & Finished & OutcomeCounts & { leftOut?: number; reason?: string }
>(
  ({ needPerson, reason }) => (needPerson > 0 || reason !== undefined ? 'warn' : 'info'),
  'batch-finished',
  (log, facts) => {
    log.meter?.file(facts.source, 'finished');
    log.tracer?.finished(facts);
  },
);

/** The file was changed after its last order was admitted; what changed is not sent. */
export const fileChanged = warn<Named & { reason: string }>(
  'file-changed-after-read',
  (log, facts) => log.meter?.file(facts.source, 'unreadable'),
);

/** An order of the file needs a person: it failed a check, or its number is known with other content. */
export const orderNotAdmitted = info<{
  batch: string;
  order: string;
  line: number;
  outcome: string;
  code: string;
  reason: Sentence | undefined;
}>('order-not-admitted', ({ tracer }, { batch, order, line, outcome, code }) =>
  tracer?.settled({ batch, order: { purchaseOrderNumber: order }, place: { line } }, outcome, code),
);

/** The API refused too many orders of the batch in the same way; the rest waits for an operator. */
export const batchHeld = warn<{ batch: string; reason: Sentence }>('batch-held');

/** Takes over an unfinished batch whose daemon has ended. */
export const batchTakenUp = info<Named>('batch-resumed');

/** A step with a file or report failed. */
export const batchTrouble = warn<{ batch: string; reason: string }>('batch-trouble');

/** Decisions of people that Redis did not have were done again. */
export const decisionsRepeated = info<{ decisions: number }>('decisions-repeated');

/** A decision that Redis lost no longer fits what is known now. */
export const decisionNotRepeated = warn<{ what: string; on: string; who: string; reason: string }>(
  'decision-not-repeated',
);

/** Old reports or day folders were removed. */
export const reportsExpired = info<{ removed: number; durationMs: number }>('reports-expired');

/** An old report could not be removed. */
export const expiryFailed = warn<{ path: string; error: string }>('expiry-failed');
