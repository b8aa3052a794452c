import type { Entry } from '../../src/ledger/entry.ts';
import { STICKY_ORDER } from './network.ts';
import { UNKNOWN_ARTICLE } from './partner-api.ts';
import { KEYS } from './setting.ts';
import { type Standing, standingOf } from './standing.ts';
import type { World } from './world.ts';

/** What may never happen to an order, by the API's own record. */
export type Fault =
  | 'double'
  | 'lost'
  | 'waits for ever'
  /** Told as not created, and it was. */
  | 'falsely given up'
  /** Left to a person though the list could tell, or attempts were left. */
  | 'given up too soon'
  | 'sent though refused'
  | 'miscounted'
  /** More calls to an endpoint than a few a second, while nothing succeeds. */
  | 'hammered';

/** What became of the orders of a world. */
export type Judgement = {
  orders: number;
  accepted: number;
  refused: number;
  failed: number;
  inDoubt: number;
  faults: { fault: Fault; number: string; detail: string }[];
};

/** Compares what the ledger says of each order with what the API stored. */
export function judge(world: World): Judgement {
  const { api, store, orders } = world;
  const judgement: Judgement = { orders: orders.length, accepted: 0, refused: 0, failed: 0, inDoubt: 0, faults: [] };
  for (const number of new Set(orders.map((order) => order.number))) {
    const times = api.counts.get(number) ?? 0;
    const standing = toldOf(world, number, standingOf(store, number));
    const { state } = standing;
    if (state === 'accepted' || state === 'refused' || state === 'failed' || state === 'inDoubt') judgement[state] += 1;
    const faults = [
      waitsVisibly(world, number) ? undefined : faultOf(standing, times),
      hastyFaultOf(standing, world),
      refusedFaultOf(world, number, times),
    ];
    const detail = `${state}, stored ${times} times`;
    judgement.faults.push(...faults.flatMap((fault) => (fault ? [{ fault, number, detail }] : [])));
  }
  if (!world.ended) judgement.faults.push({ fault: 'waits for ever', number: '', detail: `${world.turns} turns` });
  judgement.faults.push(...miscounts(world), ...hammerings(world));
  return judgement;
}

/** After a rollback the ledger may have forgotten an order; then its report tells what people believe of it. */
function toldOf({ files }: World, number: string, standing: Standing): Standing {
  if (standing.state !== 'forgotten') return standing;
  return files.all.findLast(({ told }) => told.has(number))?.told.get(number) ?? standing;
}

/** The order that never gets through waits while delivery is paused, with a reason that `status` shows. */
function waitsVisibly({ store, weather }: World, number: string): boolean {
  return number === STICKY_ORDER && weather.stickyOrder !== 'none' && store.hget(KEYS.breaker, 'code') !== null;
}

function faultOf({ state }: Standing, times: number): Fault | undefined {
  if (times > 1) return 'double';
  switch (state) {
    case 'accepted':
    case 'rebuilt':
    case 'forgotten':
      return times === 0 ? 'lost' : undefined;
    case 'refused':
    case 'failed':
      return times === 0 ? undefined : 'falsely given up';
    case 'inDoubt':
    case 'conflict':
      return undefined;
    case 'queued':
    case 'sending':
    case 'retry':
    case 'unknown':
      return 'waits for ever';
  }
}

function hastyFaultOf({ state, entry }: Standing, { weather }: World): Fault | undefined {
  if (state === 'failed') return (entry?.used ?? 0) < weather.attempts ? 'given up too soon' : undefined;
  if (state !== 'inDoubt' || entry === undefined || weather.listForbidden || entry.misnamed) return undefined;
  return hasWaited(entry, weather.settle) ? undefined : 'given up too soon';
}

/** Lists that cannot tell leave an order to a person after ten settles. */
function hasWaited({ askedSince, version }: Entry, settle: number): boolean {
  // A version is the time of the last change.
  return askedSince !== undefined && version - askedSince >= 10 * settle;
}

function refusedFaultOf({ orders }: World, number: string, times: number): Fault | undefined {
  const mine = orders.filter((order) => order.number === number);
  return times > 0 && mine.every(isRefused) ? 'sent though refused' : undefined;
}

function isRefused(order: World['orders'][number]): boolean {
  return order.valid && order.order.items.some(({ articleCode }) => articleCode === UNKNOWN_ARTICLE);
}

function miscounts(world: World): Judgement['faults'] {
  const { files, store, rolledBackAt = -1 } = world;
  return files.all.flatMap(({ batch, orders, doneAt }) => {
    // What Redis forgot after a file was put away is nobody's loss: its report tells it.
    if (doneAt <= rolledBackAt) return [];
    const counted = Number(store.hget(KEYS.batch(batch), 'counted') ?? 0);
    const waiting = orders.filter(({ number }) => waitsVisibly(world, number)).length;
    if (counted === orders.length || counted + waiting === orders.length) return [];
    return [{ fault: 'miscounted' as const, number: batch, detail: `${counted} of ${orders.length}` }];
  });
}

/** So many calls in so many milliseconds, of every endpoint, while no order is accepted. */
const MOST_CALLS = 50;
const SPAN = 10_000;

function hammerings({ calls, successes }: World): Judgement['faults'] {
  return (['create', 'list', 'token'] as const).flatMap((endpoint) => {
    const times = calls.filter((call) => call.endpoint === endpoint).map(({ at }) => at);
    const first = times.find((at, i) => isHammered(times, i, successes) && at >= 0);
    if (first === undefined) return [];
    return [{ fault: 'hammered' as const, number: endpoint, detail: `from ${(first / 1000).toFixed(3)} on` }];
  });
}

function isHammered(times: readonly number[], from: number, successes: readonly number[]): boolean {
  const [first = 0, last = Number.POSITIVE_INFINITY] = [times[from], times[from + MOST_CALLS]];
  return last - first < SPAN && !successes.some((at) => at >= first - 1000 && at <= last);
}
