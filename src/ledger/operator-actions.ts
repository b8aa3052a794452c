import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { OperatorAction } from './entry.ts';

/** Actions of an order that are kept; `commit.lua` keeps as many. */
const KEPT = 20;

/** The actions of people on each order. An action that changes an entry is committed together with the change. */
export function createOperatorActions({ redis, keys }: { redis: Redis; keys: Keys }) {
  /** What people did with an order, oldest first. */
  async function operatorActions(number: string): Promise<OperatorAction[]> {
    const texts = await redis.lrange(keys.operatorActions(number), 0, -1);
    return texts.map((text) => JSON.parse(text) as OperatorAction);
  }

  /** Adds what a person did without a change of the entry: the file that they submit changes it. */
  async function note(number: string, action: OperatorAction): Promise<void> {
    const key = keys.operatorActions(number);
    await redis.multi().rpush(key, JSON.stringify(action)).ltrim(key, -KEPT, -1).exec();
  }

  return { operatorActions, note };
}
