import { userInfo } from 'node:os';
import { PoSyncError, toError } from '../core/errors.ts';
import { iso } from '../core/format.ts';
import type { CircuitBreaker } from '../deliver/circuit-breaker.ts';
import type { Journals } from '../journal/folder.ts';
import type { Batches } from '../ledger/batches/batches.ts';
import type { OperatorAction } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { operatorActed } from '../log/events/daemon.ts';
import type { OrderQueue } from '../queue/queue.ts';
import type { Context, Store } from '../redis/store.ts';
import type { RedisTime } from '../redis/time.ts';

/** What every operation works on: one environment with the store that its daemons use, and the person who acts. */
export type OperatorContext = Context & {
  ledger: Ledger;
  batches: Batches;
  queue: OrderQueue;
  breaker: CircuitBreaker;
  operator: Operator;
  /** In place of the folder of reports, as in a simulation. */
  journals?: Journals;
};

/** The person who acts. `who` is the name in the history of orders; `did` describes an action at the current time. */
export type Operator = { who: string; did(what: OperatorAction['what']): OperatorAction };

/** The name of the user who ran `sudo` takes precedence over the current user; names are cut to 64 characters. */
export function createOperator(
  env: Readonly<Record<string, string | undefined>>,
  time: RedisTime,
): Operator {
  const names = [env['SUDO_USER'], env['USER'], env['LOGNAME'], env['USERNAME']];
  const who = (names.find((name) => name !== undefined && name !== '') ?? ownerName()).slice(0, 64);
  return { who, did: (what) => ({ at: time.now(), who, what }) };
}

/** Containers and services often set no such variable, and their user may have no name. */
function ownerName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}

/** What a person did, in the dashboard or by a command. `on`: a batch, an order or the environment. `result`: in a few words. */
export type Action = { at: string; who: string; what: string; on: string; result: string };

/** Actions that are kept, about. */
const KEPT = 10_000;

/** Runs what a person asked for, and records it in the list of actions and the log, also when it fails. */
export async function recorded<Result extends { text: string }>(
  { what, on }: Pick<Action, 'what' | 'on'>,
  { config, store, log, operator }: Pick<OperatorContext, 'config' | 'store' | 'log' | 'operator'>,
  act: () => Promise<Result>,
): Promise<Result> {
  const { redis, keys, time } = store;
  async function record(result: string): Promise<void> {
    const action = { who: operator.who, what, on: on || config.environment, result };
    operatorActed(log, action);
    const text = JSON.stringify({ at: iso(time.now()), ...action } satisfies Action);
    await redis.xadd(keys.actions, 'MAXLEN', '~', KEPT, '*', 'action', text);
  }
  try {
    const done = await act();
    await record(done.text);
    return done;
  } catch (error) {
    // What made it fail may keep this from being recorded, too.
    await record(toError(error).message).catch(() => undefined);
    throw error;
  }
}

/** The actions before the one with the id `after`, newest first. PoSyncError `parameter-wrong`. */
export async function readActions(
  { redis, keys }: Pick<Store, 'redis' | 'keys'>,
  limit: number,
  after?: string,
): Promise<{ items: Action[]; next: string | undefined }> {
  if (after !== undefined && !/^\d{1,16}-\d{1,10}$/.test(after)) {
    throw new PoSyncError('parameter-wrong', 'after must be the value of next of an earlier page.');
  }
  const found = await redis.xrevrange(
    keys.actions,
    after === undefined ? '+' : `(${after}`,
    '-',
    'COUNT',
    limit + 1,
  );
  const items = found.slice(0, limit).map(([, [, text = '{}']]) => JSON.parse(text) as Action);
  return { items, next: found.length > limit ? found[limit - 1]?.[0] : undefined };
}
