import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { type Entry, type OperatorAction, occurrencesOf } from './entry.ts';
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

/** The orders in progress or in doubt that some batches have, page by page. An order may occur twice. */
export async function* ordersUnderWay(
  batches: readonly string[],
  { redis, keys, ledger }: Deps,
): AsyncGenerator<Entry[]> {
  const wanted = new Set(batches);
  const isWanted = (entry: Entry) => occurrencesOf(entry).some(({ batch }) => wanted.has(batch));
  for (const set of [keys.due, keys.doubt]) {
    let cursor = '0';
    do {
      const [next, flat] = await redis.zscan(set, cursor, 'COUNT', PAGE);
      cursor = next;
      // Members and scores take turns.
      const known = await ledger.lookup(flat.filter((_, i) => i % 2 === 0));
      const open = known.flatMap((one) => (one.kind === 'open' ? [one.entry] : []));
      const entries = open.filter(isWanted);
      if (entries.length > 0) yield entries;
    } while (cursor !== '0');
  }
}

type Withdrawal = {
  ledger: Pick<Ledger, 'take'>;
  queue: { nameJob(): string; add(jobs: readonly Job[]): Promise<void> };
  policy: Policy;
  /** When it is withdrawn: the action has the time at which the person decided. */
  at: number;
  /** Absent: the batch that sends it. */
  batch?: string;
};

/**
 * Withdraws an order of a batch: one that waits to be sent, which another file that has it sends then, or one that repeats an
 * order in progress. False when it was changed meanwhile, or is in doubt: then the list decides first.
 */
export async function withdraw(
  entry: Entry,
  action: OperatorAction,
  { ledger, queue, policy, at, batch = entry.batch }: Withdrawal,
): Promise<boolean> {
  const step = next(entry, { kind: 'cancel', at, batch, job: queue.nameJob() }, policy);
  const isOver = step.kind === 'cancel';
  // Of an order whose batch ended, or that continues, nobody did anything.
  const by = action.who === '' || !isOver || batch !== entry.batch ? undefined : action;
  if (!(await ledger.take(entry, step, by)) || !isOver) return false;
  if (step.rest?.due !== undefined) await queue.add([aloneOf(step.rest.entry)]);
  return true;
}
