import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { Entry, OperatorAction } from './entry.ts';
import type { Ledger } from './ledger.ts';
import { next } from './state-machine/next.ts';
import type { Policy, Step } from './state-machine/step.ts';

/** The few orders that one job carries; the truth about each is in the ledger. */
export type Job = { id: string; name: string; batch: string; numbers: readonly string[] };

/** Maximum number of orders of one job. */
export const LARGEST = 50;

/** How many orders a job carries when so many wait: small files get small jobs, so that all workers have some. */
export function jobSize(waiting: number): number {
  return Math.max(1, Math.min(LARGEST, Math.ceil(waiting / 64)));
}

/** A job for one order that is sent again. */
export function aloneOf({ job, batch, order, place }: Entry): Job {
  return { id: job, name: `line ${place.line}`, batch, numbers: [order.purchaseOrderNumber] };
}

/** The same step, its order carried by another job from now on. Steps that need no job stay unchanged. */
export function withJob(step: Step, nameJob: () => string): Step {
  if (step.kind !== 'move' || step.entry.state !== 'retry') return step;
  return { ...step, entry: { ...step.entry, job: nameJob() } };
}

type Deps = { redis: Redis; keys: Keys; ledger: Pick<Ledger, 'lookup'> };

const PAGE = 500;

/** The orders of some batches that are queued or being sent, page by page. An order may occur twice. */
export async function* ordersUnderWay(
  batches: readonly string[],
  { redis, keys, ledger }: Deps,
): AsyncGenerator<Entry[]> {
  const wanted = new Set(batches);
  let cursor = '0';
  do {
    const [next, flat] = await redis.zscan(keys.due, cursor, 'COUNT', PAGE);
    cursor = next;
    // Members and scores take turns.
    const known = await ledger.lookup(flat.filter((_, i) => i % 2 === 0));
    const entries = known.flatMap((one) =>
      one.kind === 'open' && wanted.has(one.entry.batch) ? [one.entry] : [],
    );
    if (entries.length > 0) yield entries;
  } while (cursor !== '0');
}

type Withdrawal = {
  ledger: Pick<Ledger, 'followers' | 'take'>;
  queue: { nameJob(): string; add(jobs: readonly Job[]): Promise<void> };
  policy: Policy;
  /** When it is withdrawn: the action has the time at which the person decided. */
  at: number;
};

/**
 * Withdraws an order that waits to be sent. If a duplicate in another file waits for it, that file sends it. False when it was
 * changed meanwhile, or is in doubt: then the list decides first.
 */
export async function withdraw(
  entry: Entry,
  action: OperatorAction,
  { ledger, queue, policy, at }: Withdrawal,
): Promise<boolean> {
  const { marks, first } = await ledger.followers.waitingFor(entry.order.purchaseOrderNumber, at);
  const heir = first && { follower: first, job: queue.nameJob() };
  const step = next(entry, { kind: 'cancel', at, ...(heir ? { heir } : {}) }, policy);
  // Of an order whose batch ended, nobody did anything.
  const isOver = step.kind === 'cancel';
  const by = action.who === '' || !isOver ? undefined : action;
  if (!(await ledger.take(entry, step, by, { followers: marks })) || !isOver) return false;
  if (step.heir) await queue.add([aloneOf(step.heir.entry)]);
  return true;
}
