import type { Source } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import type { Batch } from '../ledger/batches/batches.ts';
import type { Store } from '../redis/store.ts';

type HearingDeps = { store: Pick<Store, 'redis' | 'keys' | 'time'>; clock: Clock; sources: readonly Source[] };

/** Builds what remembers when a source last had a file. */
export function createHearing({ store, clock, sources }: HearingDeps) {
  const { redis, keys, time } = store;
  const ledgerTimeOf = (at: number) => time.now() - Math.max(0, clock.now() - at);
  /**
   * A file of the source could be read. A fix file or a correction says only that the source is in use: people send them
   * also while its own file is missing.
   */
  async function heard(file: Pick<Batch, 'source' | 'startedAt' | 'inspection' | 'isForm'>): Promise<void> {
    const isOwn = !file.inspection?.isFixFile && !file.isForm;
    if (isOwn) await rewritten(file.source, file.startedAt);
    else await watchFrom(file.source, ledgerTimeOf(file.startedAt), store);
  }
  /** A file of the source came or was written again at this time of this host. */
  async function rewritten(source: string, writtenAt: number): Promise<void> {
    const at = ledgerTimeOf(writtenAt);
    const before = Number((await redis.hget(keys.heard, source)) ?? 0);
    if (at > before) await redis.hset(keys.heard, source, String(at));
  }

  /** For `status`, which shows a silent source also where nobody receives notices. */
  async function watch(): Promise<void> {
    const expected = sources.filter(({ expectEvery }) => expectEvery !== undefined);
    await Promise.all(expected.map(({ name }) => watchFrom(name, time.now(), store)));
  }

  return { heard, rewritten, watch };
}

/** A source that never had a file, as far as its ledger knows, counts from the first daemon that watched it. */
export async function watchFrom(
  source: string,
  at: number,
  { redis, keys }: Pick<Store, 'redis' | 'keys'>,
): Promise<void> {
  const isFirst = (await redis.hsetnx(keys.heard, source, String(at))) === 1;
  if (isFirst) await redis.hset(keys.heard, `watched:${source}`, String(at));
}
