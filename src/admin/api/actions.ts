import { PoSyncError } from '../../core/errors.ts';
import { iso } from '../../core/format.ts';
import { operatorActed } from '../../log/events/daemon.ts';
import type { OperatorContext } from '../../operate/operator-context.ts';
import type { Store } from '../../redis/store.ts';

/** What a person did at the admin port. `on`: a batch, an order or the environment. `result`: in a few words. */
export type Action = { at: string; who: string; what: string; on: string; result: string };

/** Actions that are kept, about. */
const KEPT = 10_000;

/** Records an action in the list of actions and the log. Call it after the act; a failed one is recorded too. */
export async function recordAction(
  { store, log, operator }: Pick<OperatorContext, 'store' | 'log' | 'operator'>,
  { what, on, result }: Pick<Action, 'what' | 'on' | 'result'>,
): Promise<void> {
  const { redis, keys, time } = store;
  const text = JSON.stringify({ at: iso(time.now()), who: operator.who, what, on, result } satisfies Action);
  operatorActed(log, { who: operator.who, what, on, result });
  await redis.xadd(keys.actions, 'MAXLEN', '~', KEPT, '*', 'action', text);
}

/** The actions before the one with the id `after`, newest first. PoSyncError `parameter-wrong`. */
export async function readActions(
  { redis, keys }: Pick<Store, 'redis' | 'keys'>,
  limit: number,
  after?: string,
): Promise<{ items: Action[]; next: string | undefined }> {
  if (after !== undefined && !/^\d{1,16}-\d{1,10}$/.test(after)) {
    throw new PoSyncError('parameter-wrong', 'after is not the next of an earlier page.');
  }
  const found = await redis.xrevrange(keys.actions, after === undefined ? '+' : `(${after}`, '-', 'COUNT', limit + 1);
  const items = found.slice(0, limit).map(([, [, text = '{}']]) => JSON.parse(text) as Action);
  return { items, next: found.length > limit ? found[limit - 1]?.[0] : undefined };
}
