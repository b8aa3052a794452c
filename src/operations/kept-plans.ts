import { randomBytes } from 'node:crypto';
import { PoSyncError } from '../core/errors.ts';
import type { Store } from '../redis/store.ts';

/** Milliseconds that a plan is kept. */
const KEPT = 86_400_000;

/** The dead letters with which something is to be done: id → order number. */
export type Planned = ReadonlyMap<string, string>;

type Where = { store: Pick<Store, 'redis' | 'keys'> };

/** Keeps what a person was shown, so that exactly that can be done. Returns its id. */
export async function keepPlan(what: string, planned: Planned, { store }: Where): Promise<string> {
  const id = randomBytes(4).toString('hex');
  const text = JSON.stringify({ what, planned: [...planned] });
  await store.redis.set(store.keys.plan(id), text, 'PX', KEPT);
  return id;
}

/** PoSyncError `plan-unknown`. */
export async function findPlan(what: string, id: string, { store }: Where): Promise<Planned> {
  const text = await store.redis.get(store.keys.plan(id));
  const kept = text === null ? undefined : (JSON.parse(text) as Kept);
  if (kept?.what === what) return new Map(kept.planned);
  throw new PoSyncError('plan-unknown', `Plan ${id} not found.`, {
    remedy: 'A plan is kept for a day, for the command that printed it. Plan again with --dry-run.',
    facts: { plan: id },
  });
}

type Kept = { what: string; planned: [id: string, order: string][] };
