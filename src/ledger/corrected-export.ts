import type { Closing } from '../order/dead-letter.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';
import type { Batch } from './batches.ts';

export type CorrectedExport = ReturnType<typeof createCorrectedExport>;

/**
 * Builds the step that closes the dead letters of orders which a batch shows as they were accepted: an export's own
 * letters when it shows them right again, every letter when a fix file takes the change back. Repeatable.
 */
export function createCorrectedExport({ redis, keys }: { redis: Redis; keys: Keys }) {
  const script = readScript(new URL('./corrected-export.lua', import.meta.url));

  return async ({ batch, kind, source }: Batch, numbers: readonly string[], now: number): Promise<void> => {
    if (numbers.length === 0 || (await redis.hlen(keys.waiting)) === 0) return;
    const at = new Date(now).toISOString();
    const closings = numbers.map((number): Closing => ({ number, at, by: 'corrected', batch }));
    await runScript(
      redis,
      script,
      [keys.waiting, keys.refresh, keys.batch(batch)],
      [
        keys.prefix,
        kind === 'export' ? source : '',
        ...closings.flatMap((closing) => [closing.number, JSON.stringify(closing)]),
      ],
    );
  };
}
