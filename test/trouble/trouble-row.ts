import type { WaitKind } from '../../src/ledger/wait-cause.ts';
import { OUTCOMES } from '../../src/order/outcome.ts';
import type { Endpoint, OddApi } from '../support/odd-api.ts';

export type Status = {
  pauses: { code: string; message: string }[];
  deadLetters: number;
  guarantee: { assumption: string; measured: unknown }[];
  queue: { unsettledOrders: number };
  waits: { code: WaitKind; message: string; orders: number; until?: string }[];
  batches: { state: string; counts: Record<string, number | null> }[];
};

const ENDPOINTS: readonly Endpoint[] = ['token', 'create', 'list'];

/** The contract allows a few calls a second to any endpoint while nothing succeeds. */
const MOST = 5;
/** Milliseconds. Calls that were in flight when the trouble began may still arrive. */
const NOTICED = 3_000;
/** As many more at any time: on a busy machine the calls of some seconds arrive together. */
const BUNCH = 10;

type Seen = {
  api: OddApi;
  /** The numbers of the files that were dropped. */
  dropped: ReadonlySet<string>;
  outcomes: Record<string, string>;
  status: Status;
  /** So many calls are on their way when the trouble begins, and may arrive late on a busy machine. */
  onTheirWay: number;
  mustWait: boolean;
};

/** Throws where a rule is broken that holds for every odd API. */
export function judge(seen: Seen): void {
  const { api, status, onTheirWay, mustWait } = seen;
  const spans = barrenSpans(api, onTheirWay);
  const twice = [...createdTimes(api).values()].filter((times) => times > 1).length;
  const lost = lostIn(seen);
  const broken = [
    ...(twice > 0 ? [`${twice} orders were created twice`] : []),
    ...(lost > 0 ? [`${lost} orders are lost`] : []),
    ...ENDPOINTS.flatMap((endpoint) => {
      const at = api.calls.filter((call) => call.endpoint === endpoint).map((call) => call.at);
      return spans.flatMap(([from, to]) => {
        const calls = at.filter((one) => one >= from && one <= to).length;
        return calls > mostIn(to - from)
          ? [`${calls} calls to ${endpoint} in ${to - from} ms while nothing succeeds`]
          : [];
      });
    }),
    ...unnamed(status),
    ...(mustWait && status.waits.length === 0 ? ['nothing waits'] : []),
  ];
  if (broken.length > 0) throw new Error(broken.join('; '));
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
  const waiting = waits.filter((wait) => !settled.includes(wait.code));
  const named = waiting.reduce((sum, { orders }) => sum + orders, 0);
  const explained: readonly WaitKind[] = ['pause', 'first-list', 'release', 'list'];
  const silent = waiting.filter(
    ({ code, message }) => explained.includes(code) && !message.includes(': '),
  );
  return [
    // Both are read while orders may move on.
    ...(named < queue.unsettledOrders - 8
      ? [`status names ${named} of ${queue.unsettledOrders} orders that wait`]
      : []),
    ...silent.map(({ code }) => `status gives no reason for ${code}`),
  ];
}

function createdTimes(api: OddApi): Map<string, number> {
  const times = new Map<string, number>();
  for (const { order, stored } of api.calls)
    if (order && stored) times.set(order, (times.get(order) ?? 0) + 1);
  return times;
}

type Span = [from: number, to: number];

/** The most calls that an endpoint may get within so many milliseconds. */
export function mostIn(milliseconds: number): number {
  return BUNCH + (MOST * milliseconds) / 1_000;
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
