import type { ValidOrder } from '../order/checked-order.ts';
import type { DeadLetter } from '../order/dead-letter.ts';
import { locationOf } from '../order/location.ts';
import type { DeadLetterKind } from '../order/outcome.ts';
import { signatureOf } from './signature.ts';

/** What is known of an order that was fit to be sent and needs a person all the same. Times are ISO 8601. */
export type DeliveryFacts = {
  kind: DeadLetterKind;
  code: string;
  message: string;
  attempts: number;
  firstAt: string;
  lastAt: string;
  httpStatus?: number;
  response?: string;
};

/** The dead letter of an order that passed the checks; for a refused one `message` is the API's own words. */
export function deliveryDeadLetterOf(order: ValidOrder, facts: DeliveryFacts): DeadLetter {
  const { kind, code, message, attempts, firstAt, lastAt, httpStatus, response } = facts;
  return {
    purchaseOrderNumber: order.number,
    kind,
    stage: stageOf(kind),
    code,
    message,
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...(response === undefined ? {} : { response }),
    signature: signatureOf({ code, message, known: [order.number] }),
    attempts,
    firstAt,
    lastAt,
    location: locationOf(order),
    payload: order.order,
  };
}

function stageOf(kind: DeadLetterKind): DeadLetter['stage'] {
  if (kind === 'invalid') return 'validation';
  return kind === 'conflict' || kind === 'inDoubt' ? 'reconciliation' : 'delivery';
}
