import { userInfo } from 'node:os';
import { toError } from '../core/errors.ts';
import type { CircuitBreaker } from '../deliver/circuit-breaker.ts';
import type { Journals } from '../journal/folder.ts';
import type { Batches } from '../ledger/batches/batches.ts';
import type { OperatorAction } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { operatorActed } from '../log/events/daemon.ts';
import type { OrderQueue } from '../queue/queue.ts';
import type { Context } from '../redis/store.ts';
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

/** Runs what a person asked for, and records it in the log, also when it fails. `on`: a batch, an order or the environment. */
export async function recorded<Result extends { text: string }>(
  { what, on }: { what: string; on: string },
  { config, log, operator }: Pick<OperatorContext, 'config' | 'log' | 'operator'>,
  act: () => Promise<Result>,
): Promise<Result> {
  const record = (result: string) =>
    operatorActed(log, { who: operator.who, what, on: on || config.environment, result });
  try {
    const done = await act();
    record(done.text);
    return done;
  } catch (error) {
    record(toError(error).message);
    throw error;
  }
}
