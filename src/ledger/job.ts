import type { Entry } from './entry.ts';
import type { Step } from './transitions/step.ts';

/** The few orders that one job carries; the truth about each is in the ledger. */
export type Job = { id: string; name: string; batch: string; numbers: readonly string[] };

/** Most orders of one job. */
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
