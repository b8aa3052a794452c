import { join } from 'node:path';
import { codeOf } from '../../core/errors.ts';
import type { DeadLetter } from '../../order/dead-letter.ts';
import { needsPerson, type OrderResult, type Outcome } from '../../order/outcome.ts';
import { readDeadLetters } from '../../report/dead-letters.ts';
import { readResultLines } from '../../report/results.ts';

/** An order of a batch; `letter`: the id of its dead letter, where it needed a person. */
export type OrderInBatch = OrderResult & { letter?: string };

/** Orders of a batch. `next`: where the next page begins. */
type OrderPage = { items: OrderInBatch[]; next: number | undefined };

/** The complete dead letter of a report; undefined when it is not there. */
export async function findLetter(folder: string, id: string): Promise<DeadLetter | undefined> {
  for await (const one of lettersIn(folder)) if (one.id === id) return one;
  return undefined;
}

/** A page of `results.csv`, from the byte `start`. */
export async function ordersIn(
  folder: string,
  start: number,
  limit: number,
  outcome?: Outcome,
): Promise<OrderPage> {
  const items: OrderResult[] = [];
  let last = start;
  const lines = readResultLines(join(folder, 'results.csv'), start, outcome ?? '');
  for await (const { result, end } of lines) {
    if (outcome !== undefined && result.outcome !== outcome) continue;
    if (items.length === limit) return { items: await named(items, folder), next: last };
    items.push(result);
    last = end;
  }
  return { items: await named(items, folder), next: undefined };
}

/** The orders with the ids of their dead letters. */
async function named(items: readonly OrderResult[], folder: string): Promise<OrderInBatch[]> {
  const keyOf = (line: number, number: string) => JSON.stringify([line, number]);
  const ids = new Map<string, string>();
  if (items.some(({ outcome }) => needsPerson(outcome)))
    for await (const { location, purchaseOrderNumber, id } of lettersIn(folder))
      ids.set(keyOf(location.line, purchaseOrderNumber), id);
  return items.map((one) => {
    const letter = needsPerson(one.outcome) && ids.get(keyOf(one.line, one.purchaseOrderNumber));
    return letter ? { ...one, letter } : one;
  });
}

/** The dead letters of a report; none where it expired. */
export async function* lettersIn(folder: string): AsyncGenerator<DeadLetter> {
  try {
    yield* readDeadLetters(folder);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}
