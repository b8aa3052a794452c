import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';

/** Something that needs a person: its order number, "" when it has none, and a short name for its content. */
export type KnownProblem = { number: string; fingerprint: string };

export type KnownInvalid = ReturnType<typeof createKnownInvalid>;

/**
 * Invalid orders of exports that were already reported: every version of an export shows its invalid orders again. A
 * person sees each only once, until its content changes or it was valid in between.
 */
export function createKnownInvalid({ redis, keys }: { redis: Redis; keys: Keys }) {
  /** Which of these were reported with the same content. */
  async function wereKnown(source: string, tellings: readonly KnownProblem[]): Promise<boolean[]> {
    if (tellings.length === 0) return [];
    const fingerprints = await redis.hmget(keys.knownInvalid(source), ...tellings.map(fieldOf));
    return tellings.map(({ fingerprint }, i) => fingerprints[i] === fingerprint);
  }

  /** Call after they are counted: after a crash in between, they are reported again. */
  async function remember(source: string, tellings: readonly KnownProblem[]): Promise<void> {
    if (tellings.length === 0) return;
    await redis.hset(
      keys.knownInvalid(source),
      Object.fromEntries(tellings.map((one) => [fieldOf(one), one.fingerprint])),
    );
  }

  /** These numbers are well now: should they go wrong again, it is news. */
  async function areWell(source: string, numbers: readonly string[]): Promise<void> {
    if (numbers.length === 0 || (await redis.hlen(keys.knownInvalid(source))) === 0) return;
    await redis.hdel(keys.knownInvalid(source), ...numbers.map((number) => fieldOf({ number, fingerprint: '' })));
  }

  return { wereKnown, remember, areWell };
}

function fieldOf({ number, fingerprint }: KnownProblem): string {
  return number === '' ? `#${fingerprint}` : `=${number}`;
}
