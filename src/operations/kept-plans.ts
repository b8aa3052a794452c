import { randomBytes } from 'node:crypto';
import { PoSyncError } from '../core/errors.ts';
import type { BulkJob } from '../operate/operation-context.ts';
import type { Store } from '../redis/store.ts';

/** Milliseconds that a plan is kept, and what was done of it. */
export const KEPT = 86_400_000;

/** The dead letters with which something is to be done: id → order number. */
export type Planned = ReadonlyMap<string, string>;

/** `title`: what is done, with how many; `lines`: what a person was shown. */
export type KeptPlan = { verb: BulkJob['verb']; title: string; lines: readonly string[] };

type Kept = KeptPlan & { planned: [id: string, order: string][] };
type Where = { store: Pick<Store, 'redis' | 'keys'> };

/** Keeps what a person was shown, so that exactly that can be done. Returns its id. */
export async function keepPlan(
  plan: KeptPlan,
  planned: Planned,
  { store: { redis, keys } }: Where,
): Promise<string> {
  const id = randomBytes(4).toString('hex');
  const kept: Kept = { ...plan, planned: [...planned] };
  await redis.set(keys.plan(id), JSON.stringify(kept), 'PX', KEPT);
  return id;
}

/** `verb`: what is to be done. PoSyncError `plan-unknown`. */
export async function findPlan(
  id: string,
  { store: { redis, keys } }: Where,
  verb?: BulkJob['verb'],
): Promise<KeptPlan & { planned: Planned }> {
  const text = await redis.get(keys.plan(id));
  const kept = text === null ? undefined : (JSON.parse(text) as Kept);
  if (kept && (verb ?? kept.verb) === kept.verb) return { ...kept, planned: new Map(kept.planned) };
  throw new PoSyncError('plan-unknown', `Plan ${id} not found.`, {
    remedy: 'A plan is kept for a day, for the command that made it. Plan again.',
    facts: { plan: id },
  });
}
