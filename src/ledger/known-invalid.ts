import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';

/** Something that needs a person: its order number, "" without one, and a digest of its content. */
export type KnownProblem = { number: string; fingerprint: string };

export type KnownInvalid = ReturnType<typeof createKnownInvalid>;

/**
 * What exports have shown already: an export shows its faulty orders again with every version, and a person sees each only
 * once, until its content changes or it was correct in between.
 */
export function createKnownInvalid({ redis, keys }: { redis: Redis; keys: Keys }) {
  /** Which of these were shown with the same content. */
  async function wereKnown(source: string, problems: readonly KnownProblem[]): Promise<boolean[]> {
    if (problems.length === 0) return [];
    const fingerprints = await redis.hmget(keys.knownInvalid(source), ...problems.map(fieldOf));
    return problems.map(({ fingerprint }, i) => fingerprints[i] === fingerprint);
  }

  /** Call after they are counted: what a crash cuts off in between is shown again. */
  async function remember(source: string, problems: readonly KnownProblem[]): Promise<void> {
    if (problems.length === 0) return;
    await redis.hset(
      keys.knownInvalid(source),
      Object.fromEntries(problems.map((one) => [fieldOf(one), one.fingerprint])),
    );
  }

  /** These numbers are correct now: a later fault is shown again. */
  async function areWell(source: string, numbers: readonly string[]): Promise<void> {
    if (numbers.length === 0 || (await redis.hlen(keys.knownInvalid(source))) === 0) return;
    await redis.hdel(keys.knownInvalid(source), ...numbers.map((number) => fieldOf({ number, fingerprint: '' })));
  }

  return { wereKnown, remember, areWell };
}

function fieldOf({ number, fingerprint }: KnownProblem): string {
  return number === '' ? `#${fingerprint}` : `=${number}`;
}
