import type { ListEnd, ListedOrder } from '../api/list.ts';
import type { Known } from '../ledger/admission.ts';
import { decide } from '../ledger/decide.ts';
import type { Entry } from '../ledger/entry.ts';
import { aloneOf, type Job } from '../ledger/job.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { next, type Policy } from '../ledger/state.ts';
import { digestOf } from '../order/digest.ts';
import type { OrderQueue } from '../queue/queue.ts';
import type { RedisTime } from '../redis/redis-time.ts';
import type { FoundDeadLetter } from './found-dead-letter.ts';
import type { Operator } from './operator.ts';

/** What becomes of a dead letter's order when it is to be sent again. */
export type RetryVerdict =
  /** Sent again. */
  | 'retried'
  /** In doubt: the list is asked again first. */
  | 'asked'
  /** The API has it already, with the same items: accepted. */
  | 'found'
  | LeftAlone;

/** Why an order cannot be sent again. */
export type LeftAlone =
  /** It failed a check: its file is to be mended. */
  | 'invalid'
  /** Its number belongs to another order. */
  | 'number-taken'
  /** Whether the API has it could not be seen. */
  | 'list-needed'
  | 'under-way'
  | 'settled'
  /** The ledger does not hold its content any more. */
  | 'forgotten';

/** What the API's list says of the orders in question; undefined where it cannot be read. */
export type Listed = ReadonlyMap<string, ListedOrder> | undefined;

type Deps = {
  ledger: Ledger;
  queue: OrderQueue;
  time: RedisTime;
  policy: Policy;
  operator: Operator;
  /** Orders a second that go back into the queue; undefined: as many as there are. */
  rate?: number;
};

/** What would become of a letter's order. Pure. */
export function judgeRetry(deadLetter: FoundDeadLetter, known: Known, listed: Listed): RetryVerdict {
  if (deadLetter.kind === 'invalid') return 'invalid';
  if (known.kind === 'nothing') return 'forgotten';
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
      return listed === undefined ? 'list-needed' : 'retried';
    case 'inDoubt':
      return 'asked';
    case 'queued':
    case 'sending':
    case 'retry':
    case 'unknown':
      return 'under-way';
  }
}

/** Sends the orders of a page of letters again, as far as that may be; gives what became of each. */
export async function retryDeadLetters(
  page: readonly FoundDeadLetter[],
  listed: Listed,
  before: number,
  deps: Deps,
): Promise<RetryVerdict[]> {
  const known = await deps.ledger.lookup(page.map(({ purchaseOrderNumber }) => purchaseOrderNumber));
  let again = before;
  const acts = await Promise.all(
    page.map((deadLetter, i) => {
      const one = known[i] ?? { kind: 'nothing' };
      const verdict = judgeRetry(deadLetter, one, listed);
      const delay = deps.rate === undefined ? 0 : Math.round((again * 1000) / deps.rate);
      if (verdict === 'retried') again += 1;
      return one.kind === 'open' ? act(one.entry, verdict, delay, deps) : Promise.resolve<Act>({ verdict });
    }),
  );
  // Ledger first: what is lost between the two the sweeper finds.
  await enqueue(acts, deps);
  return acts.map(({ verdict }) => verdict);
}

type Act = { verdict: RetryVerdict; job?: Job; delay?: number };

async function act(entry: Entry, verdict: RetryVerdict, delay: number, deps: Deps): Promise<Act> {
  const { ledger, queue, time, policy, operator } = deps;
  const at = time.now();
  switch (verdict) {
    case 'retried': {
      const step = decide(entry, { kind: 'retry', at, job: queue.nameJob(), delay });
      if (!(await ledger.take(entry, step, operator.did('retried'))) || step.kind !== 'move') return LATE;
      return { verdict, job: aloneOf(step.entry), delay };
    }
    case 'asked': {
      const step = decide(entry, { kind: 'ask', at, settle: policy.settle });
      return (await ledger.take(entry, step, operator.did('asked again'))) ? { verdict } : LATE;
    }
    case 'found': {
      const step = next(entry, { kind: 'found', at, same: true }, policy);
      return (await ledger.take(entry, step, operator.did('rebuilt'))) ? { verdict } : LATE;
    }
    default:
      return { verdict };
  }
}

/** Somebody else was quicker. */
const LATE: Act = { verdict: 'under-way' };

async function enqueue(acts: readonly Act[], { queue, rate }: Deps): Promise<void> {
  const fresh = acts.flatMap(({ job, delay = 0 }) => (job ? [{ job, delay }] : []));
  if (rate === undefined) await queue.add(fresh.map(({ job }) => job));
  else await Promise.all(fresh.map(({ job, delay }) => queue.add([job], delay)));
}

/** A letter that only repeats another's answer is about the same order; one in conflict with it is not. */
function isOf({ batch, digest }: Entry, deadLetter: FoundDeadLetter): boolean {
  const { payload } = deadLetter;
  return isContent(payload) ? digestOf(payload) === digest : deadLetter.batch === batch;
}

function isContent(payload: unknown): payload is Parameters<typeof digestOf>[0] {
  return typeof payload === 'object' && payload !== null && 'items' in payload && Array.isArray(payload.items);
}

/** A list without items proves it only for an order that we may have sent. */
function isSame({ digest, maybeSentAt }: Entry, { items }: ListedOrder): boolean {
  return items === undefined ? maybeSentAt !== undefined : digestOf({ orderState: 'NEW', items }) === digest;
}

/** What the list says of these numbers, and how reading it ended. */
export async function lookUp(
  wanted: ReadonlySet<string>,
  read: (onOrder: (order: ListedOrder) => void) => Promise<ListEnd>,
): Promise<{ listed: Listed; end: ListEnd }> {
  const listed = new Map<string, ListedOrder>();
  const end = await read((order) => {
    if (wanted.has(order.purchaseOrderNumber)) listed.set(order.purchaseOrderNumber, order);
  });
  return { listed: end.kind === 'complete' ? listed : undefined, end };
}
