import { NEW_LEDGER, type OwnCause, ROLLED_BACK } from '../ledger/pause-cause.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';
import type { RedisTime } from '../redis/time.ts';

export type RebuildRequest = ReturnType<typeof createRebuildRequest>;

/**
 * Why the API's list is to be read into the ledger, for which epoch of it, from when, and how long that was ahead.
 */
export type PendingRebuild = {
  why: string;
  epoch: string;
  notBefore: number;
  wait: number;
};

/** After this many tries in quick succession the pauses grow from a tenth of a settle to ten settles. */
const QUICK_TRIES = 3;
const QUICK_PAUSE = 300;
const FIRST_PAUSE = 0.1;
const LONGEST_PAUSE = 10;

/** What the script does with the request, and what that needs, as named at its head. */
type Asked = { verb: 'end' | 'later' | 'show'; epoch: string; field: string } & Record<
  string,
  string | number | boolean | undefined
>;

type RequestDeps = { redis: Redis; keys: Keys; time: RedisTime };

/** The request in Redis to read the API's list into the ledger, and the pause of delivery that goes with it. */
export function createRebuildRequest({ redis, keys, time }: RequestDeps) {
  const script = readScript(new URL('./ledger-rebuild.lua', import.meta.url));

  /** Undefined when nothing is to be read. */
  async function pending(): Promise<PendingRebuild | undefined> {
    const stored = await redis.hgetall(keys.rebuild);
    const { why, epoch = '', notBefore = '0', wait = '0' } = stored;
    return why === undefined
      ? undefined
      : { why, epoch, notBefore: Number(notBefore), wait: Number(wait) };
  }

  /**
   * Ends the request and its pause, whatever it was for; false when it belongs to another epoch of
   * the ledger. `shown`: how many orders the list showed, where it must still be proved complete; `assumed`: what the
   * configuration says in place of a proof.
   */
  async function finish(
    epoch: string,
    { shown, assumed }: { shown?: number; assumed?: string } = {},
  ): Promise<boolean> {
    const [field, other] = [holdOf('rolled-back').field, holdOf('new').field];
    return (await run({ verb: 'end', epoch, field, other, shown, assumed })) === 1;
  }

  /** Postpones the request; `why`: what delivery waits for, instead of the usual cause. */
  async function later(epoch: string, why: OwnCause | undefined, settle: number): Promise<void> {
    const { field, cause } = holdOf((await pending())?.why);
    const hold = JSON.stringify({ ...(why ?? cause), since: time.now() });
    const quick = { tries: QUICK_TRIES, quick: QUICK_PAUSE };
    const pauses = { ...quick, usual: FIRST_PAUSE * settle, longest: LONGEST_PAUSE * settle };
    await run({ verb: 'later', epoch, field, ...pauses, isNew: why && true, hold });
  }

  /** The configuration asks for a proof that it did not want before: the list is read as for a new ledger. */
  async function proveAssumed(): Promise<void> {
    if ((await redis.hget(keys.listProof, 'assumed')) === null) return;
    const epoch = (await redis.hget(keys.identity, 'epoch')) ?? '';
    await redis.hset(keys.rebuild, { why: 'new', epoch, notBefore: 0 });
    await redis.hdel(keys.listProof, 'assumed');
  }

  /** The request is due at once: a person said something that it waited for. */
  async function hasten(): Promise<void> {
    if ((await pending()) !== undefined) await redis.hset(keys.rebuild, { notBefore: 0 });
  }

  /** Delivery is paused for this from now on, where the request is pending. */
  async function showWait(): Promise<void> {
    const request = await pending();
    if (request === undefined) return;
    const { field, cause } = holdOf(request.why);
    const hold = JSON.stringify({ ...cause, since: time.now() });
    await run({ verb: 'show', epoch: request.epoch, field, hold });
  }

  function run(asked: Asked): Promise<unknown> {
    const used = [keys.rebuild, keys.breaker, keys.pauses, keys.listProof, keys.listShown];
    return runScript(redis, script, used, [JSON.stringify({ ...asked, now: time.now() })]);
  }

  return { pending, finish, later, proveAssumed, hasten, showWait };
}

function holdOf(why: string | undefined): { field: string; cause: OwnCause } {
  const code = why === 'new' ? NEW_LEDGER : ROLLED_BACK;
  return { field: `hold:${code}`, cause: { code, facts: {} } };
}
