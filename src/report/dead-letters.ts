import { join } from 'node:path';
import { iso } from '../core/format.ts';
import { readLetters } from '../correct/read-as.ts';
import { answered, type Known } from '../ledger/entry.ts';
import { type DeadLetter, errorLine, lifeOf, locationOf } from '../order/dead-letter.ts';
import { idOf } from '../order/letter-id.ts';
import {
  firstItems,
  type InvalidOrder,
  itemsIn,
  itemTexts,
  type Order,
  type ValidOrder,
} from '../order/order.ts';
import type { DeadLetterKind } from '../order/outcome.ts';
import { type Reason, saysOf, UNEXPLAINED } from '../order/problem.ts';
import { asText, type Sentence } from '../order/sentence.ts';
import { faultText, problemText, reasonText, shortText } from '../wording/problem.ts';
import { signatureOf } from './signature.ts';

/** The dead letter of an order of a batch that failed a check and was never sent. `at` is the time of the check, ISO 8601. */
export function deadLetterOf(batch: string, order: InvalidOrder, at: string): DeadLetter {
  const [first] = order.problems;
  const fault = first ?? UNEXPLAINED;
  return {
    ...lifeOf(batch, order),
    purchaseOrderNumber: order.number,
    kind: 'invalid',
    code: fault.code,
    facts: fault.facts,
    message: problemText(fault),
    problems: [...order.problems],
    signature: signatureOf(fault),
    attempts: 0,
    firstAt: at,
    lastAt: at,
    location: locationOf(order),
  };
}

/** Why a valid order needs a person. Times are ISO 8601. */
export type DeliveryFacts = {
  kind: DeadLetterKind;
  attempts: number;
  firstAt: string;
  lastAt: string;
  httpStatus?: number;
  response?: string;
  /** A conflict's other content. */
  known?: Order | undefined;
} & Reason;

/** The dead letter of an order that passed the checks. */
export function deliveryDeadLetterOf(
  batch: string,
  order: ValidOrder,
  reason: DeliveryFacts,
): DeadLetter {
  const { kind, code, facts, attempts, firstAt, lastAt, httpStatus, response, known } = reason;
  return {
    ...lifeOf(batch, order),
    purchaseOrderNumber: order.number,
    kind,
    code,
    facts,
    message: reasonText(reason),
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...(response === undefined ? {} : { response }),
    signature: signatureOf({ code, says: saysOf(reason) }),
    attempts,
    firstAt,
    lastAt,
    location: locationOf(order),
    payload: order.order,
    ...(kind === 'conflict' && known !== undefined ? { known } : {}),
  };
}

const DEAD: ReadonlySet<string> = new Set(['conflict', 'refused', 'failed', 'inDoubt']);

/** An open dead letter with its order's last answer, where the order was sent or checked again since. */
export function withLastAnswer<Letter extends DeadLetter>(letter: Letter, known?: Known): Letter {
  if (letter.closed || known?.kind !== 'open') return letter;
  const { state, ordinal, attempt: attempts, lastAt: at = 0, answer } = known.entry;
  const lastAt = iso(at);
  const isOwn = idOf(known.entry.batch, ordinal) === letter.id;
  if (!DEAD.has(state) || !isOwn || lastAt <= letter.lastAt) return letter;
  if (state !== letter.kind || answer === undefined) return { ...letter, attempts, lastAt };
  const { httpStatus: _, response: __, ...rest } = letter;
  const reason = answered(answer, state);
  const signature = signatureOf({ code: reason.code, says: answer.message });
  return { ...rest, ...reason, message: reasonText(reason), signature, attempts, lastAt } as Letter;
}

/** Writes a list such as `dead-letters.json` piece by piece: a JSON array with one entry a line, or `[]`. */
export function createList<Entry extends object>(): {
  entry(entry: Entry): string;
  closing(): string;
} {
  let empty = true;
  return {
    entry(entry) {
      const text = `${empty ? '[' : ','}\n${JSON.stringify(entry)}`;
      empty = false;
      return text;
    },
    closing: () => (empty ? '[]\n' : '\n]\n'),
  };
}

/** Reads the entries of a report's `dead-letters.json` one at a time, as they are known without their rows. */
export async function* readDeadLetters(folder: string): AsyncGenerator<DeadLetter> {
  for await (const { rows: _, ...letter } of readLetters(join(folder, 'dead-letters.json')))
    yield letter;
}

/**
 * The first five items of a refused order, and how many more it has: `A-1 × 5, B-2 × 1`. Empty for another kind: only the
 * API does not say which item it means.
 */
export function refusedItems({ kind, payload }: Pick<DeadLetter, 'kind' | 'payload'>): string {
  return firstItems(kind === 'refused' ? itemsIn(payload) : []);
}

const PROBLEMS_SHOWN = 10;

/** Of an order, all problems but the first, each once and without its remedy. */
function furtherProblems({ problems = [] }: Pick<DeadLetter, 'problems'>): string {
  const all = [...new Set(problems.slice(1).map((one) => asText(shortText(one))))];
  const more = all.length - PROBLEMS_SHOWN;
  return [...all.slice(0, PROBLEMS_SHOWN), ...(more > 0 ? [`${more} more`] : [])].join('; ');
}

/** One order of a group. Values are as they were found. `message` is without what to do. */
export type AffectedOrder = {
  line: number;
  pointer: string;
  number: string;
  field: string;
  value: string;
  message: Sentence;
  /** The order's other problems, as `furtherProblems` writes them. */
  also: string;
  /** The items of this file, and those of the order that has the number already; both only for a conflict. */
  items: readonly string[];
  knownItems: readonly string[];
  /** The first items of an order that is not compared with another, in the order of the file. */
  ownItems: string;
};

/** An order of a group as the page shows it. */
export function affected(deadLetter: DeadLetter): AffectedOrder {
  const { location, purchaseOrderNumber, problems, known, payload } = deadLetter;
  const problem = problems?.[0];
  return {
    line: errorLine(deadLetter),
    pointer: location.pointer ?? '',
    number: purchaseOrderNumber,
    field: problem?.field ?? '',
    value: problem?.value ?? '',
    message: problem ? faultText(problem) : deadLetter.message,
    also: furtherProblems(deadLetter),
    items: known === undefined ? [] : itemTexts(itemsIn(payload)),
    knownItems: known === undefined ? [] : itemTexts(known.items),
    ownItems: known ? '' : firstItems(itemsIn(payload)),
  };
}
