import type { InvalidOrder } from '../order/checked-order.ts';
import type { DeadLetter } from '../order/dead-letter.ts';
import type { Problem } from '../order/record.ts';
import { signatureOf } from './signature.ts';

/** The dead letter of an order that failed a check and was never sent. `at` is ISO 8601: when the check was done. */
export function deadLetterOf(order: InvalidOrder, at: string): DeadLetter {
  const first = order.problems[0] ?? unexplained(order);
  return {
    purchaseOrderNumber: order.number,
    kind: 'invalid',
    stage: 'validation',
    code: first.code,
    message: first.message,
    problems: [...order.problems],
    signature: signatureOf({ ...first, known: [order.number, first.value] }),
    attempts: 0,
    firstAt: at,
    lastAt: at,
    location: locationOf(order),
  };
}

function locationOf(order: InvalidOrder): DeadLetter['location'] {
  const { line, pointer } = order.place;
  const lines = order.records.map((record) => record.place.line);
  return {
    line,
    ...(lines.length > 1 ? { lines } : {}),
    ...(pointer === undefined ? {} : { pointer }),
  };
}

function unexplained(order: InvalidOrder): Problem {
  return { line: order.place.line, field: '', code: 'invalid', value: '', message: 'The order failed a check.' };
}
