import type { CircuitBreaker } from '../../deliver/circuit-breaker.ts';
import type { Store } from '../../redis/store.ts';
import {
  COUNTED,
  type Counts,
  type Levels,
  NOTHING,
  type PaceEntry,
  quantile,
  SPAN,
  STEP,
  stepAt,
} from './pace.ts';

/** What all daemons did in some time. `p50` and `p95`: milliseconds of an answer to a create request. */
export type PaceSummary = {
  acceptedPerSecond: number;
  needPersonPerSecond: number;
  p50: number | undefined;
  p95: number | undefined;
} & Partial<Levels>;

export type PaceSeries = ReturnType<typeof createPaceSeries>;

/** One step of all daemons together. */
type Step = Omit<Counts, 'times'> & { times: Map<number, number> } & Partial<Levels>;

/** Entries of one reading, and milliseconds that it serves every reader. */
const PAGE = 5_000;
const FRESH = 1_000;
/** Milliseconds until every daemon has added a step that ended. */
const LATE = 1_500;

/** The last hour in steps of five seconds, of all daemons together. Reads only what was added since the last reading. */
export function createPaceSeries(
  { redis, keys, time }: Pick<Store, 'redis' | 'keys' | 'time'>,
  breaker: Pick<CircuitBreaker, 'during'>,
) {
  const steps = new Map<number, Step>();
  let pauses: Awaited<ReturnType<CircuitBreaker['during']>> = [];
  let last = '-';
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const entries = await redis.xrange(keys.pace, last, '+', 'COUNT', PAGE);
    for (const [id, [, text = '']] of entries) {
      merge(JSON.parse(text) as PaceEntry);
      last = `(${id}`;
    }
    if (entries.length === PAGE) return read();
    const oldest = time.now() - SPAN - STEP;
    for (const at of steps.keys()) if (at < oldest) steps.delete(at);
    pauses = await breaker.during(oldest, time.now());
    readAt = time.now();
  }

  function merge(entry: PaceEntry): void {
    const { at, times, levels } = entry;
    const step = steps.get(at) ?? { ...NOTHING, times: new Map() };
    // A daemon of an older version counts less.
    for (const name of COUNTED) step[name] += entry[name] ?? 0;
    for (const [bucket, count] of Object.entries(times)) addTo(step.times, Number(bucket), count);
    steps.set(at, Object.assign(step, levels));
  }

  /** Brings the series up to date. */
  async function refresh(): Promise<void> {
    if (time.now() - readAt < FRESH) return;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    await reading;
  }

  return {
    refresh,
    /** The pauses of the last hour, latest first. Ledger time in milliseconds; without `to` it lasts. */
    pauses: () => pauses,
    /** The end of the last step that every daemon has added. */
    end: () => stepAt(time.now() - LATE),
    ...createSummaries(steps),
  };
}

/** What the steps say together. */
function createSummaries(steps: ReadonlyMap<number, Step>) {
  /** All steps that begin from `from` and before `to` as one; undefined when no daemon ran. */
  function summary(from: number, to: number): PaceSummary | undefined {
    const all = range(from, to).flatMap((at) => steps.get(at) ?? []);
    if (all.length === 0) return undefined;
    const times = new Map<number, number>();
    for (const step of all) for (const [bucket, count] of step.times) addTo(times, bucket, count);
    const seconds = (to - from) / 1_000;
    const { unsettled, inDoubt, waitingJobs } =
      all.findLast((step) => step.unsettled !== undefined) ?? {};
    return {
      acceptedPerSecond: sumOf(all, 'accepted') / seconds,
      needPersonPerSecond: sumOf(all, 'needPerson') / seconds,
      p50: quantile(times, 0.5),
      p95: quantile(times, 0.95),
      ...(unsettled === undefined
        ? {}
        : { unsettled, inDoubt: inDoubt ?? 0, waitingJobs: waitingJobs ?? 0 }),
    };
  }

  /** Tokens of the last hour: how many were issued, when the last one, and how many requests failed. */
  function tokens(): { issued: number; lastAt: number | undefined; failed: number } {
    const all = [...steps.values()];
    const lastAt = [...steps].filter(([, step]) => step.tokens > 0).map(([at]) => at);
    return {
      issued: sumOf(all, 'tokens'),
      lastAt: lastAt.length === 0 ? undefined : Math.max(...lastAt),
      failed: sumOf(all, 'tokenFailures'),
    };
  }

  return { summary, tokens };
}

/** The starts of the steps in a time span. */
function range(from: number, to: number): number[] {
  const first = Math.ceil(from / STEP) * STEP;
  return Array.from(
    { length: Math.max(0, Math.ceil((to - first) / STEP)) },
    (_, i) => first + i * STEP,
  );
}

function addTo(counts: Map<number, number>, bucket: number, count: number): void {
  counts.set(bucket, (counts.get(bucket) ?? 0) + count);
}

function sumOf(all: readonly Step[], name: (typeof COUNTED)[number]): number {
  return all.reduce((sum, step) => sum + step[name], 0);
}

/** The series as columns, for plots: one value for each `at`, null where no daemon ran or nothing was measured. */
export function paceColumns({ summary, end }: PaceSeries, after: number | undefined, now: number) {
  const at = range(Math.max(after === undefined ? 0 : after + STEP, now - SPAN), end());
  const rows = at.map((begin) => summaryJson(summary(begin, begin + STEP)));
  const names = Object.keys(summaryJson(undefined)) as (keyof Row)[];
  const columns = Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])]));
  return { at: at.map((ms) => ms / 1_000), ...(columns as Record<keyof Row, (number | null)[]>) };
}

/** Milliseconds at the end of the last minute whose answers show a change before they are many of that minute. */
const LATEST = 2 * STEP;

/** What was done in the last minute, for figures. */
export function lastMinute({ summary, end }: PaceSeries) {
  const latestP50Ms = rounded(summary(end() - LATEST, end())?.p50);
  return { ...summaryJson(summary(end() - 60_000, end())), latestP50Ms };
}

type Row = ReturnType<typeof summaryJson>;

function summaryJson(summary: PaceSummary | undefined) {
  return {
    acceptedPerSecond: rounded(summary?.acceptedPerSecond),
    needPersonPerSecond: rounded(summary?.needPersonPerSecond),
    createP50Ms: rounded(summary?.p50),
    createP95Ms: rounded(summary?.p95),
    unsettled: rounded(summary?.unsettled),
    inDoubt: rounded(summary?.inDoubt),
    waitingJobs: rounded(summary?.waitingJobs),
  };
}

function rounded(value: number | undefined): number | null {
  return value === undefined ? null : Math.round(value * 10) / 10;
}
