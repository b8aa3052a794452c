import type { Source } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { duration, iso } from '../core/format.ts';
import type { Batch } from '../ledger/batches/batches.ts';
import type { Store } from '../redis/store.ts';
import { type CommonFacts, cut, type Notice, noticeOf } from './notice.ts';

type HearingDeps = {
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
  clock: Clock;
  sources: readonly Source[];
};

/** Builds what remembers when a source last had a file. */
export function createHearing({ store, clock, sources }: HearingDeps) {
  const { redis, keys, time } = store;
  const ledgerTimeOf = (at: number) => time.now() - Math.max(0, clock.now() - at);
  /**
   * A file of the source could be read. A fix file or a correction says only that the source is in use: people send them
   * also while its own file is missing.
   */
  async function heard(
    file: Pick<Batch, 'source' | 'startedAt' | 'inspection' | 'isForm'>,
  ): Promise<void> {
    const isOwn = !file.inspection?.isFixFile && !file.isForm;
    const at = ledgerTimeOf(file.startedAt);
    if (!isOwn) return await watchFrom(file.source, at, store);
    const before = Number((await redis.hget(keys.heard, file.source)) ?? 0);
    if (at > before) await redis.hset(keys.heard, file.source, String(at));
  }

  /** For `status`, which shows a silent source also where nobody receives notices. */
  async function watch(): Promise<void> {
    const expected = sources.filter(({ expectEvery }) => expectEvery !== undefined);
    await Promise.all(expected.map(({ name }) => watchFrom(name, time.now(), store)));
  }

  return { heard, watch };
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

/** `hadFile`: whether its last file came at `since`; otherwise po-sync began to watch it then, also after its ledger was lost. */
type Silence = CommonFacts & { source: string; since: number; hadFile: boolean };

/** What a path may take of the text. Characters. */
const LONGEST_PATH = 250;

/** A source had no file for longer than expected. `path`: where its files are expected. */
export function sourceSilent({
  hadFile,
  ...facts
}: Silence & { path: string; expectEveryMs: number }): Notice {
  const { source, since, path, expectEveryMs } = facts;
  const from = hadFile ? iso(since) : `po-sync began to watch it at ${iso(since)}`;
  const text = `Source ${source} (${cut(path, LONGEST_PATH)}) has had no readable file since ${from}, longer than the expected ${duration(expectEveryMs)}.`;
  return noticeOf('silent', 'silent', text, facts);
}

/** A silent source had a file again. */
export function sourceHeard({ hadFile, ...facts }: Silence): Notice {
  const [source, since] = [facts.source, iso(facts.since)];
  const text = hadFile
    ? `Source ${source} has a file again; the one before came at ${since}.`
    : `Source ${source} has a file; before it, none came since po-sync began to watch it at ${since}.`;
  return noticeOf('silent', 'heard', text, facts);
}
