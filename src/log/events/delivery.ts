import type { Sentence } from '../../order/sentence.ts';
import { error, event, info, warn } from '../event.ts';
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

/** One attempt of an order ended. A refusal is at `debug`, because `order-dead` follows it. */
export const attemptEnded = event<Attempt, [TracedOrder]>(
  ({ outcome }) => (['accepted', 'refused', 'misnamed'].includes(outcome) ? 'debug' : 'info'),
  'attempt-ended',
  ({ meter, tracer }, facts, order) => {
    meter?.attempt(facts.outcome);
    tracer?.attempt(order, facts);
  },
);

/** An order became a dead letter: at admission, after an attempt, or because of the API's list. */
export const orderDead = warn<{ batch: string; order: string; outcome: string; reason: string }>(
  'order-dead',
);

/**
 * The API's list showed that an order in doubt is accepted, or that it is absent and is sent again (`retry`).
 */
export const doubtSettled = info<{ batch: string; order: string; outcome: string }>(
  'doubt-settled',
);

/**
 * An order that was being sent, or waited for its turn, when its file was cancelled, or that Redis has again from before a
 * person discarded it. `what`: cancelled, discarded; or `ended`: its file had ended before Redis lost that.
 */
export const orderWithdrawn = info<{ batch: string; order: string; what: string; who?: string }>(
  'order-withdrawn',
);

/** The API's list shows an order more than once. */
export const orderCreatedTwice = warn<{ batch?: string; order: string; times: number }>(
  'order-created-twice',
);

/** A read of the list is a warning where it failed; at `debug` if it is one of a series with the same end. */
const ofRead = ({ outcome }: { outcome: string }, isNews: boolean) =>
  isNews ? (outcome === 'complete' ? 'info' : 'warn') : 'debug';

/** One list call about `asked` orders in doubt ended. At `debug` if it is one of a series that settles nothing. */
export const listRead = event<
  { orders: number; asked: number; durationMs: number; outcome: string; reason?: string },
  [boolean]
>(ofRead, 'list-read');

/**
 * One list call for files that wait for it ended; `added`: orders that are new to the ledger. At `debug` if it is one of a
 * series with the same end.
 */
export const fileListRead = event<
  { orders: number; added: number; durationMs: number; outcome: string; reason?: string },
  [boolean]
>(ofRead, 'file-list-read');

/** Delivery to the environment pauses. Logged once a pause. */
export const deliveryPaused = warn<{ environment: string; code: string; reason: Sentence }>(
  'delivery-paused',
  (log, facts) => log.meter?.pause(facts.code),
);

/** Delivery stays paused, now for another reason. */
export const pauseChanged = warn<{
  environment: string;
  code: string;
  reason: Sentence;
  formerCode: string;
}>('delivery-pause-changed');

/** The pause ended. `code` and `reason` are the latest of the pause. */
export const deliveryResumed = info<{
  environment: string;
  code: string;
  reason: Sentence;
  durationMs: number;
}>('delivery-resumed');

/** A new token was fetched. Never logs its value. */
export const tokenRenewed = info<{ environment: string; lifetimeMs: number }>(
  'token-renewed',
  ({ meter }) => meter?.token('issued'),
);

/** The sweeper found orders in the ledger that the queue had lost. */
export const ordersSwept = warn<{ orders: number }>('orders-requeued');

/** A step of delivery failed. */
export const deliveryTrouble = warn<{ reason: string }>('delivery-trouble');

/** This process or Redis did not answer for so long that the queue gave a job to another worker. The ledger decides about its orders. */
export const jobTakenBack = info<object>('job-taken-back');

/** Another program, such as a user interface of BullMQ, paused or limited the queue, which was undone. `po-sync pause` pauses delivery. */
export const queueChanged = warn<{ settings: string }>('queue-changed');

/** Redis cannot be reached or answers with errors. */
export const redisTrouble = warn<{ reason: string }>('redis-trouble');

/** Redis takes writes again. `durationMs`: since the trouble that was reported first. */
export const redisBack = info<{ durationMs: number }>('redis-back');

/** The orders of the API's list are in the ledger. */
export const ledgerRebuilt = info<{ orders: number; added: number }>('ledger-rebuilt');

/** The API offers no list, so the ledger does not know what the API already has. */
export const rebuildImpossible = warn<{ reason: string }>('ledger-rebuild-impossible');

/** Redis lost a part of the ledger, or may lack one because the folder `data` was copied or restored. */
export const ledgerRolledBack = error<{ environment: string; reason: Sentence }>(
  'ledger-rolled-back',
);

/** Settled orders that no source has shown for longer than `ledger.keep` were removed from the ledger. */
export const ordersForgotten = info<{ orders: number }>('orders-forgotten');
