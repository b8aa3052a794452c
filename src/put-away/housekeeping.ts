import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { toError } from '../core/errors.ts';
import { hashFile } from '../core/regular-file.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Retention } from '../ledger/retention.ts';
import { expiryFailed, reportsExpired } from '../log/events/batch.ts';
import { ordersForgotten } from '../log/events/delivery.ts';
import type { Log } from '../log/log.ts';
import {
  type Closing,
  type Closings,
  closingFor,
  closingsOf,
  endBy,
} from '../order/dead-letter.ts';
import type { Store } from '../redis/store.ts';
import type { RedisTime } from '../redis/time.ts';
import { filesNamed, refreshBeside } from '../report/beside.ts';
import { type Expired, expireReports, expireSettled } from '../report/expire.ts';
import type { IsRead } from '../report/fix-copies.ts';
import { findBroughtBy, readCorrections } from '../report/read-corrections.ts';
import { refreshReport } from '../report/refresh-report.ts';
import { helpAddress } from '../report/report.ts';

type RefreshDeps = {
  batches: Batches;
  ledger: Pick<Ledger, 'lookup'>;
  store: Pick<Store, 'redis' | 'keys'>;
  help?: string | undefined;
};
type ReportsDeps = Omit<RefreshDeps, 'help'> & { config: Pick<Config, 'reports' | 'admin'> };

/**
 * Rewrites the reports whose dead letters were closed or whose file was changed since, with the copies next to their
 * files. Batches that are not settled yet keep their report. Can be repeated; one process at a time works on a batch.
 * Throws `report-not-written`.
 */
export async function refreshReports({ config, ...deps }: ReportsDeps): Promise<void> {
  const reports = config.reports.path;
  const { batches } = deps;
  const known = { ...deps, help: helpAddress(config) };
  let failed: Error | undefined;
  // A report that cannot be written must not delay the others.
  const names = new Set(await batches.toRefresh());
  for (const name of names) {
    const origins = await refreshOne(name, known, reports).catch((error: unknown): string[] => {
      failed ??= toError(error);
      return [];
    });
    // Adds to the names of this round: what waited in this batch may be settled now.
    for (const origin of origins) {
      names.delete(origin);
      names.add(origin);
    }
  }
  if (failed) throw failed;
}

/** Refreshes one report. Returns the older batches whose reports depend on it. */
async function refreshOne(
  name: string,
  { help, ...deps }: RefreshDeps,
  reports: string,
): Promise<string[]> {
  const { batches, ledger } = deps;
  const origins = await batches.withLease(name, 'lease', async (fence) => {
    // Closings come first: one that is added after this line asks for another refresh.
    const closings = await batches.closings(name);
    const batch = await batches.find(name);
    if (batch && batch.state !== 'done') return [];
    const shown = await withWaiting(name, closings, batches);
    const later = shown.flatMap((closing) => (closing.batch === undefined ? [] : [closing.batch]));
    const corrections = await readCorrections(reports, name, later);
    if (batch) {
      const folder = join(reports, name);
      const accepted = async (numbers: readonly string[]) =>
        (await ledger.lookup(numbers)).filter(({ kind }) => kind === 'accepted').length;
      const brought = await findBroughtBy(name, deps);
      const now = { ...batch, help, accepted, brought, lookup: ledger.lookup, fence };
      const refresh = () => refreshReport(folder, now, closingsOf(shown), corrections);
      const { settledPath } = batch;
      if (settledPath === undefined) await refresh();
      else {
        const others = await filesNamed(namedIn(batch, shown), batches);
        await refreshBeside(settledPath, folder, refresh, {
          others,
          isRead: readBy(batch, settledPath, batches),
          fence,
        });
      }
    }
    const origins = await batches.origins(name);
    await batches.refreshed(name, closings.length, origins);
    // A successor that was closed meanwhile, or a later report that was written, asked for this report, and `refreshed`
    // may have forgotten that.
    const isSame = isDeepStrictEqual(
      [shown, corrections],
      [await withWaiting(name, closings, batches), await readCorrections(reports, name, later)],
    );
    if (!isSame) await batches.refreshed(name, -1, []);
    return origins;
  });
  return origins ?? [];
}

/** A fix file that was saved in place and dropped: its content is in the settled file of the batch that read it. */
function readBy({ source }: Batch, settledPath: string, batches: Batches): IsRead {
  return async (name, sha256) => {
    const first = await batches.withContent(source, sha256);
    const kept = first && (await batches.find(first.batch))?.settledPath;
    if (kept === undefined || kept === join(dirname(settledPath), name)) return false;
    const found = await hashFile(kept).catch(() => undefined);
    return found?.sha256 === sha256;
  };
}

/** The batches that the page of a batch links. */
function namedIn({ repeats }: Batch, closings: readonly Closing[]): string[] {
  const names = closings.flatMap(({ batch, waitsIn, end }) => [batch, waitsIn, end?.batch]);
  return [...names, repeats?.batch].filter((name) => name !== undefined);
}

/** The closings with the files and people that they come from, and with what became of rows that came back. */
async function withWaiting(
  own: string,
  closings: readonly Closing[],
  batches: Batches,
): Promise<Closing[]> {
  const known = new Map<string, Batch | undefined>();
  const later = new Map<string, Known>();

  async function find(batch: string): Promise<Batch | undefined> {
    if (!known.has(batch)) known.set(batch, await batches.find(batch));
    return known.get(batch);
  }

  async function closingsIn(batch: string): Promise<Known | undefined> {
    if ((await find(batch)) === undefined) return undefined;
    const found = later.get(batch) ?? knownFrom(await batches.closings(batch));
    later.set(batch, found);
    return found;
  }

  /** Follows the rows from batch to batch to where they wait, or to how they ended; neither if the report expired. */
  async function follow({ batch, successor, number, end: ended }: Closing): Promise<Followed> {
    if (batch === undefined || successor === undefined)
      return ended === undefined ? {} : { end: { number, ...ended } };
    const next = await closingsIn(batch);
    if (next === undefined) return {};
    const end = closingFor(successor, next.ended);
    if (end === undefined) return { waitsIn: batch };
    const last = end.successor === undefined ? { end: { ...end, ...end.end } } : await follow(end);
    const again = last.waitsIn === undefined ? await waitsAgain(end, next) : undefined;
    if (again?.waitsIn !== undefined)
      return { waitsIn: again.waitsIn, before: last.end ?? last.before };
    const ordered = await orderedSince(end, next, follow);
    return ordered === undefined ? last : { end: ordered };
  }

  /** Where rows need a person that came back after their dead letter was settled. */
  async function waitsAgain(closing: Closing, { again }: Known): Promise<Closing | undefined> {
    for (const one of again.get(rowsOf(closing)) ?? []) {
      const { waitsIn } = await follow(one);
      if (waitsIn !== undefined) return { ...one, batch: waitsIn, waitsIn };
    }
    return undefined;
  }

  const shown: Closing[] = [];
  const named = namer(own, find);
  const endNamed = async (end: Closing | undefined) => end && endBy(await named(end));
  const all = knownFrom(closings);
  for (const closing of all.ended.values()) {
    const followed = await follow(closing);
    const again = followed.waitsIn === undefined ? await waitsAgain(closing, all) : undefined;
    const waitsIn = followed.waitsIn ?? again?.waitsIn;
    const end = again ?? (await orderedSince(closing, all, follow)) ?? followed.end;
    const [last, before] = await Promise.all(
      [end, again ? followed.end : followed.before].map(endNamed),
    );
    const more = {
      ...(waitsIn && { waitsIn }),
      ...(last && { end: last }),
      ...(before && { before }),
    };
    shown.push({ ...(await named(closing, followed.waitsIn ?? closing.batch)), ...more });
  }
  return shown;
}

/** `before`: how rows ended that came back after that, and wait. */
type Followed = { waitsIn?: string; end?: Closing; before?: Closing | undefined };

/** How an order that a person discarded was accepted from a later file. */
async function orderedSince(
  closing: Closing,
  { again }: Known,
  follow: (one: Closing) => Promise<Followed>,
): Promise<Closing | undefined> {
  if (closing.by !== 'discarded') return undefined;
  const ends = await Promise.all((again.get(rowsOf(closing)) ?? []).map(follow));
  return ends.flatMap(({ end }) => end ?? []).find(({ by }) => by === 'accepted');
}

/** Adds the name of the file of `shown`, as it was dropped and as messages have it, and the person who submitted the file that brought the order. */
function namer(own: string, find: (batch: string) => Promise<Batch | undefined>) {
  return async (closing: Closing, shown = closing.batch): Promise<Closing> => {
    const { batch } = closing;
    const file = shown === undefined ? undefined : (await find(shown))?.name;
    const by = batch === undefined || batch === own ? undefined : (await find(batch))?.by;
    const who = closing.who ?? by;
    return {
      ...closing,
      ...(file === undefined ? {} : { file }),
      ...(who === undefined ? {} : { who }),
    };
  };
}

/** The closings of a batch; `again`: those that closed nothing, by their rows. */
type Known = { ended: Closings; again: ReadonlyMap<string, readonly Closing[]> };

function knownFrom(closings: readonly Closing[]): Known {
  const again = closings.filter((closing) => closing.again);
  return { ended: closingsOf(closings), again: Map.groupBy(again, rowsOf) };
}

function rowsOf({ number, place = '' }: Closing): string {
  return JSON.stringify([number, place]);
}

type Deps = {
  config: Pick<Config, 'reports' | 'sources'>;
  batches: Batches;
  retention: Retention;
  clock: Clock;
  time: Pick<RedisTime, 'now'>;
  log: Log;
};

/**
 * Removes reports and settled files older than `reports.keep`, except reports with open dead letters, and forgets
 * orders that are past the ledger's retention.
 */
export async function keepHouse({
  config,
  batches,
  retention,
  clock,
  time,
  log,
}: Deps): Promise<void> {
  const began = clock.monotonic();
  const now = clock.now();
  const { path, keep } = config.reports;
  const reports = await expireReports({
    path,
    keep,
    now,
    keepOpen: async (name) => isNeeded(await batches.find(name)),
  });
  for (const removed of reports.removed) await batches.forget(basename(removed));
  const rounds = [reports];
  for (const source of config.sources) {
    if (source.type === 'inbox') rounds.push(await expireSettled(source.path, keep, now));
  }
  logRounds(rounds, Math.round(clock.monotonic() - began), log);
  // By the clock of Redis, as sources are noted: one machine whose clock is ahead must not forget orders.
  const forgotten = await retention.forget(time.now());
  if (forgotten > 0) ordersForgotten(log, { orders: forgotten });
}

function isNeeded(batch: Awaited<ReturnType<Batches['find']>>): boolean {
  return batch !== undefined && (batch.state !== 'done' || batch.open > 0);
}

function logRounds(rounds: readonly Expired[], durationMs: number, log: Log): void {
  const removed = rounds.reduce((sum, round) => sum + round.removed.length, 0);
  if (removed > 0) reportsExpired(log, { removed, durationMs });
  for (const { path, error } of rounds.flatMap(({ failed }) => failed)) {
    expiryFailed(log, { path, error: toError(error).message });
  }
}
