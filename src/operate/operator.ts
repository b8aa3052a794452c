import { userInfo } from 'node:os';
import type { OperatorAction } from '../ledger/operator-action.ts';
import type { RedisTime } from '../redis/redis-time.ts';

/** The person who acts, as the order's history names them. */
export type Operator = { who: string; did(what: OperatorAction['what']): OperatorAction };

/** The user's own name where `sudo` stands between, cut to what fits a history. */
export function createOperator(env: Readonly<Record<string, string | undefined>>, time: RedisTime): Operator {
  const names = [env['SUDO_USER'], env['USER'], env['LOGNAME'], env['USERNAME']];
  const who = (names.find((name) => name !== undefined && name !== '') ?? ownerName()).slice(0, 64);
  return { who, did: (what) => ({ at: time.now(), who, what }) };
}

/** Containers and services often have no variable for it, and sometimes no name either. */
function ownerName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}
