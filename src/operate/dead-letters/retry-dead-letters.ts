import type { ListedOrder } from '../../api/list.ts';
import { decided } from '../../journal/decided.ts';
import { orderDecision } from '../../journal/decision.ts';
import { type Entry, type Known, numberOf } from '../../ledger/entry.ts';
import { policyOf } from '../../ledger/environment-ledger.ts';
import { aloneOf, type Job } from '../../ledger/job.ts';
import { next } from '../../ledger/state-machine/next.ts';
import { refOf } from '../../order/dead-letter.ts';
import { digestOf } from '../../order/digest.ts';
import type { FoundDeadLetter } from '../../put-away/dead-letters-in-progress.ts';
import type { OperatorContext } from '../operator-context.ts';

/** What a retry does with the order of a dead letter. */
export type RetryVerdict =
  /** Queued to be sent again. */
  | 'retried'
  /** In doubt: the API's list is read again first. */
  | 'asked'
  /** The API already has it with the same items: accepted. */
  | 'found'
  | LeftAlone;

/** Why an order cannot be sent again. */
export type LeftAlone =
  /** It failed a check: its file must be corrected. */
  | 'invalid'
  /** The API has the number with other content, or the number belongs to another order. */
  | 'number-taken'
  /** A file that is not done corrects it. */
  | 'corrected'
  | 'under-way'
  | 'settled'
  /** The ledger no longer has its content. */
  | 'forgotten';

/** The orders in question as the API's list shows them; undefined if the list cannot be read. */
export type Listed = ReadonlyMap<string, ListedOrder> | undefined;

/** What a retry would do with the orders of a page of dead letters. */
export async function judgeRetries(
  page: readonly FoundDeadLetter[],
  listed: Listed,
  context: Pick<OperatorContext, 'ledger' | 'batches'>,
): Promise<{ verdict: RetryVerdict; known: Known }[]> {
  const { ledger, batches } = context;
  const names = [...new Set(page.map(({ batch }) => batch))];
  const taken = new Map((await Promise.all(names.map(batches.taken))).flatMap((all) => [...all]));
  const numbers = page.map(({ purchaseOrderNumber }) => purchaseOrderNumber);
  const all = await ledger.lookup(numbers);
  return page.map((deadLetter, i) => {
    const known = all[i] ?? { kind: 'nothing' as const };
    const verdict = judgeRetry(deadLetter, known, listed);
    const isTaken = taken.get(deadLetter.id)?.isOver === false;
    return { verdict: isTaken && verdict === 'retried' ? 'corrected' : verdict, known };
  });
}

/** What a retry would do with the order of a dead letter. Pure. */
export function judgeRetry(
  deadLetter: FoundDeadLetter,
  known: Known,
  listed: Listed,
): RetryVerdict {
  if (deadLetter.kind === 'invalid') return 'invalid';
  if (known.kind === 'nothing') return 'forgotten';
  if (numberOf(known) !== deadLetter.purchaseOrderNumber) return 'number-taken';
  if (known.kind === 'accepted') return deadLetter.kind === 'conflict' ? 'number-taken' : 'settled';
  const { entry } = known;
  if (!isOf(entry, deadLetter)) return 'number-taken';
  const there = listed?.get(deadLetter.purchaseOrderNumber);
  if (there) return isSame(entry, there) ? 'found' : 'number-taken';
  switch (entry.state) {
    case 'refused':
    case 'failed':
      return 'retried';
    case 'conflict':
      return 'number-taken';
    case 'inDoubt':
      return 'asked';
    case 'queued':
    case 'sending':
    case 'retry':
    case 'unknown':
      return 'under-way';
  }
}

/** Retries the orders of a page of dead letters. Returns a verdict for each. */
export async function retryDeadLetters(
  page: readonly FoundDeadLetter[],
  listed: Listed,
  context: OperatorContext,
): Promise<RetryVerdict[]> {
  const judged = await judgeRetries(page, listed, context);
  const decisions = page
    .filter((_, i) => judged[i]?.verdict === 'retried')
    .map((letter) => orderDecision('retry', letter.batch, letter));
  const retryAll = () =>
    Promise.all(
      page.map(async (deadLetter, i): Promise<Act> => {
        const { verdict = 'forgotten', known } = judged[i] ?? {};
        return known?.kind === 'open'
          ? act(known.entry, deadLetter, verdict, context)
          : { verdict };
      }),
    );
  const acts = await decided(context.operator.who, decisions, context, retryAll);
  // Update the ledger first: the sweeper finds an order that is in the ledger but was not queued.
  await context.queue.add(acts.flatMap(({ job }) => job ?? []));
  return acts.map(({ verdict }) => verdict);
}

type Act = { verdict: RetryVerdict; job?: Job };

async function act(
  entry: Entry,
  deadLetter: FoundDeadLetter,
  verdict: RetryVerdict,
  context: OperatorContext,
): Promise<Act> {
  const { ledger, queue, store, config, operator } = context;
  const policy = policyOf(config);
  const at = store.time.now();
  switch (verdict) {
    case 'retried': {
      const step = next(
        entry,
        { kind: 'retry', at, job: queue.nameJob(), delay: 0, who: operator.who },
        policy,
      );
      const isDone = await ledger.take(entry, step, operator.did('retried'), {
        from: [refOf(deadLetter)],
      });
      if (!isDone || step.kind !== 'move') return LATE;
      return { verdict, job: aloneOf(step.entry) };
    }
    case 'asked': {
      const step = next(entry, { kind: 'ask', at }, policy);
      return (await ledger.take(entry, step, operator.did('asked again'))) ? { verdict } : LATE;
    }
    case 'found': {
      const step = next(entry, { kind: 'found', at, listed: { digest: entry.digest } }, policy);
      return (await ledger.take(entry, step, operator.did('rebuilt'))) ? { verdict } : LATE;
    }
    default:
      return { verdict };
  }
}

/** The order was changed in the meantime. */
const LATE: Act = { verdict: 'under-way' };

/** Whether the ledger's entry is the order of this dead letter: same content, or same batch if the content is unknown. */
function isOf({ batch, digest }: Entry, deadLetter: FoundDeadLetter): boolean {
  const { payload } = deadLetter;
  return isContent(payload) ? digestOf(payload) === digest : deadLetter.batch === batch;
}

function isContent(payload: unknown): payload is Parameters<typeof digestOf>[0] {
  return (
    typeof payload === 'object' &&
    payload !== null &&
    'items' in payload &&
    Array.isArray(payload.items)
  );
}

/** A list without items is evidence only for an order that we may have sent. */
function isSame({ digest, maybeSentAt }: Entry, { items }: ListedOrder): boolean {
  return items === undefined ? maybeSentAt !== undefined : digestOf({ items }) === digest;
}
