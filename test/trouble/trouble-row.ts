import { appendFile } from 'node:fs/promises';
import { inject } from 'vitest';
import type { WaitKind } from '../../src/operate/orders/wait-of.ts';
import { OUTCOMES } from '../../src/order/outcome.ts';
import type { Endpoint, OddApi } from '../support/odd-api.ts';
import { mostWithin } from '../support/stalls.ts';

/** What one test of the suite saw, as a row of its table. Rates are calls a second while nothing succeeds; '–': something did. */
export type Row = {
  stays: string;
  outcomes: string;
  /** Orders that our calls created more than once. */
  twice: number;
  /** Orders that neither have an outcome nor wait. */
  lost: number;
  rates: Record<Endpoint, number | '–'>;
  status: string;
};

export type Status = {
  pauses: { code: string; reason: string }[];
  deadLetters: number;
  createdTwice: number;
  queue: { unsettledOrders: number };
  waits: { for: WaitKind; reason: string; orders: number; until?: string }[];
  batches: { state: string; counts: Record<string, number | null> }[];
  daemons: { redisLost?: number }[];
};

/** The contract allows a few calls a second to any endpoint while nothing succeeds. */
const MOST = 5;
/** Milliseconds. Calls that were in flight when the trouble began may still arrive. */
const NOTICED = 3_000;
/** Milliseconds. On a busy machine calls arrive in bunches, so a rate is taken over more than one second. */
const WINDOW = 2_000;
/** Milliseconds that a daemon may be suspended on a busy machine, with calls that were due. */
const GAP = 2_000;
/** The most calls within one second, bunches included. */
const MOST_IN_A_SECOND = 12;

type Seen = {
  stays: string;
  api: OddApi;
  /** The numbers of the files that were dropped. */
  dropped: ReadonlySet<string>;
  outcomes: Record<string, string>;
  /** The last status, and the last that named something. */
  status: Status;
  named: string;
  /** So many calls are on their way when the trouble begins, and may arrive late on a busy machine. */
  onTheirWay: number;
  mustWait: boolean;
};

/** The row of a test, added to the table of the suite. Throws where a rule that holds for every row is broken. */
export async function judgeRow(seen: Seen): Promise<Row> {
  const { stays, api, dropped, outcomes, status, named, onTheirWay, mustWait } = seen;
  const ended = [...dropped].filter((number) => number in outcomes);
  const open = dropped.size - ended.length;
  const spans = barrenSpans(api, onTheirWay);
  const row = {
    stays,
    outcomes: outcomesText(
      ended.map((number) => outcomes[number] ?? ''),
      open,
    ),
    twice: [...createdTimes(api).values()].filter((times) => times > 1).length,
    lost: lostIn(seen),
    rates: {
      token: rateOf(api, 'token', spans),
      create: rateOf(api, 'create', spans),
      list: rateOf(api, 'list', spans),
    },
    status: statusText(status) || named,
  };
  await appendFile(inject('troubleRows'), `${JSON.stringify(row)}\n`);
  const broken = [
    ...(row.twice > 0 ? [`${row.twice} orders were created twice`] : []),
    ...(row.lost > 0 ? [`${row.lost} orders are lost`] : []),
    ...Object.entries(row.rates).flatMap(([endpoint, rate]) =>
      rate !== '–' && rate > MOST
        ? [`${rate} calls a second to ${endpoint} while nothing succeeds`]
        : [],
    ),
    ...Object.entries(row.rates).flatMap(([endpoint]) => {
      const most = mostOf(api, endpoint, spans, 1_000);
      return most > MOST_IN_A_SECOND
        ? [`${most} calls within a second to ${endpoint} while nothing succeeds`]
        : [];
    }),
    ...unnamed(status),
    ...(mustWait && status.waits.length === 0 ? ['nothing waits'] : []),
  ];
  if (broken.length > 0) throw new Error(`${stays}: ${broken.join('; ')}`);
  return row;
}

/** How many orders of the files neither have an outcome nor wait. */
export function lostIn({
  dropped,
  outcomes,
  status,
}: Pick<Seen, 'dropped' | 'outcomes' | 'status'>): number {
  if (status.batches.some(({ state }) => state === 'reading')) return 0;
  const open = [...dropped].filter((number) => !(number in outcomes)).length;
  // A batch in progress has counted some outcomes that no report has yet.
  const counted = status.batches.reduce((sum, { counts }) => sum + settledIn(counts), 0);
  return Math.max(0, open - status.queue.unsettledOrders - counted);
}

function settledIn(counts: Record<string, number | null>): number {
  return OUTCOMES.reduce((sum, outcome) => sum + (counts[outcome] ?? 0), 0);
}

/** Every order that is not settled waits for something that status names, with a reason where it has one. */
function unnamed({ waits, queue }: Status): string[] {
  const settled: readonly WaitKind[] = ['person', 'order'];
  const waiting = waits.filter((wait) => !settled.includes(wait.for));
  const named = waiting.reduce((sum, { orders }) => sum + orders, 0);
  const explained: readonly WaitKind[] = ['pause', 'first-list', 'release', 'list'];
  const silent = waiting.filter((wait) => explained.includes(wait.for) && wait.reason === '');
  return [
    // Both are read while orders may move on.
    ...(named < queue.unsettledOrders - 8
      ? [`status names ${named} of ${queue.unsettledOrders} orders that wait`]
      : []),
    ...silent.map((wait) => `status gives no reason for ${wait.for}`),
  ];
}

export function statusText({ waits, pauses }: Status): string {
  const texts = waits.map(
    ({ orders, for: kind, reason }) => `${orders} wait for ${kind}${reason && `: ${reason}`}`,
  );
  return [
    ...texts,
    ...(waits.length === 0 ? pauses.map(({ reason }) => `paused: ${reason}`) : []),
  ].join('; ');
}

function outcomesText(outcomes: readonly string[], open: number): string {
  const counts = new Map<string, number>();
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const texts = [...counts].map(([outcome, times]) => `${times} ${outcome}`);
  return [...texts, ...(open > 0 ? [`${open} wait`] : [])].join(', ');
}

function createdTimes(api: OddApi): Map<string, number> {
  const times = new Map<string, number>();
  for (const { order, stored } of api.calls)
    if (order && stored) times.set(order, (times.get(order) ?? 0) + 1);
  return times;
}

type Span = [from: number, to: number];

/** The most calls a second of the spans in which no order was created or refused. */
function rateOf(api: OddApi, endpoint: Endpoint, spans: readonly Span[]): number | '–' {
  return spans.length === 0
    ? '–'
    : Math.ceil(mostOf(api, endpoint, spans, WINDOW, GAP) / (WINDOW / 1_000));
}

/** The most calls within so many milliseconds of the same spans. */
function mostOf(
  { calls, stalls }: OddApi,
  endpoint: string,
  spans: readonly Span[],
  window: number,
  gap = 0,
): number {
  const at = calls.filter((call) => call.endpoint === endpoint).map((call) => call.at);
  const inSpans = spans.map(([from, to]) => at.filter((one) => one >= from && one <= to));
  return Math.max(0, ...inSpans.map((times) => mostWithin(window, times, { stalls, gap })));
}

/** The most calls a second, of calls that reached `api` or its neighbor in this process at these times. */
export function busiest(times: readonly number[], { stalls }: OddApi): number {
  return Math.ceil(mostWithin(WINDOW, times, { stalls, gap: GAP }) / (WINDOW / 1_000));
}

/** Statuses that are an answer about the order. */
const FINAL = [400, 409, 410, 411, 413, 414, 415, 422];

function barrenSpans({ calls }: OddApi, onTheirWay: number): Span[] {
  const creates = calls.filter(({ endpoint }) => endpoint === 'create').map(({ at }) => at);
  const first = creates[0] ?? calls[0]?.at ?? 0;
  const successes = calls.flatMap(({ stored, status, at }) =>
    stored || FINAL.includes(status) ? [at] : [],
  );
  const noticed = successes.map((at) =>
    Math.max(at + NOTICED, creates.filter((one) => one > at)[onTheirWay - 1] ?? 0),
  );
  const begins = [first, ...noticed];
  const ends = [...successes, performance.now()];
  return begins.flatMap((from, i): Span[] => {
    const to = ends[i] ?? 0;
    return to - from > 1_000 ? [[from, to]] : [];
  });
}
