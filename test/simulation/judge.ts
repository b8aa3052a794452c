import type { Entry } from '../../src/ledger/entry.ts';
import type { Outcome } from '../../src/order/outcome.ts';
import { waitReason } from '../../src/wording/wait.ts';
import { faultsOfReports } from './judge-reports.ts';
import { STICKY_ORDER } from './network.ts';
import { isRefused } from './orders.ts';
import { KEYS } from './setting.ts';
import { isStuckOnList, type Standing, standingOf, waitIn } from './standing.ts';
import type { World } from './world.ts';

/** What may never happen to an order, by the API's own record. */
export type Fault =
  | 'double'
  | 'lost'
  | 'waits for ever'
  /** It waits for a person, and `status` does not say why. */
  | 'waits without a reason'
  /** Reported as not created, and it was. */
  | 'falsely given up'
  /** Left to a person though the list could tell, or attempts were left. */
  | 'given up too soon'
  | 'sent though refused'
  /** Every file that has it reports it as canceled or as invalid. */
  | 'sent though withdrawn'
  /** The list had shown that the API has the number with other items. */
  | 'sent though known'
  | 'sent while paused'
  /** Reported as a duplicate of an order that nobody sent. */
  | 'falsely duplicate'
  | 'miscounted'
  | 'dead letter left open'
  | 'dead letter closed early'
  /** More calls to an endpoint than a few a second, while nothing succeeds. */
  | 'hammered';

export type FaultFound = { fault: Fault; number: string; detail: string };

/** What became of the orders of a world. */
export type Judgement = {
  orders: number;
  accepted: number;
  refused: number;
  failed: number;
  inDoubt: number;
  conflict: number;
  faults: FaultFound[];
};

/** Compares what the ledger and the reports say about each order with what the API stored. */
export function judge(world: World): Judgement {
  const numbers = outcomesByNumber(world);
  const counts = {
    orders: numbers.size,
    accepted: 0,
    refused: 0,
    failed: 0,
    inDoubt: 0,
    conflict: 0,
  };
  const faults: FaultFound[] = [];
  for (const [number, outcomes] of numbers) {
    const times = world.api.counts.get(number) ?? 0;
    const standing = toldOf(world, number, standingOf(world.store, number));
    const { state } = standing;
    if (
      state === 'accepted' ||
      state === 'refused' ||
      state === 'failed' ||
      state === 'inDoubt' ||
      state === 'conflict'
    )
      counts[state] += 1;
    const order = { number, times, standing, outcomes };
    const detail = `${state}, stored ${times} times, reported as ${[...outcomes].join(', ')}`;
    const found = [
      waitsVisibly(world, number) ? undefined : faultOf(order, world),
      hastyFaultOf(order, world),
      silentFaultOf(order, world),
      refusedFaultOf(order, world),
      reportedFaultOf(order, world),
    ];
    faults.push(...found.flatMap((fault) => (fault ? [{ fault, number, detail }] : [])));
  }
  excuseHidden(faults, world);
  if (!world.ended)
    faults.push({ fault: 'waits for ever', number: '', detail: `${world.turns} turns` });
  faults.push(
    ...world.seen,
    ...faultsOfReports(world, (number) => waitsVisibly(world, number)),
    ...hammerings(world),
  );
  return { ...counts, faults };
}

/**
 * Where the list is cut without a word, or an archive hides what is old, the one order that was sent to show it, which delivery
 * names, may have been there before, and two of its answers may be lost again; and an API that refuses duplicates refuses what the
 * list hid.
 */
function excuseHidden(faults: FaultFound[], { weather, api, named, deeds }: World): void {
  const { listKind, archiveAfter } = weather;
  // One with pages is cut, too, where the question for them is not answered.
  const isWhole = ['all', 'paged on request', 'limited'].includes(listKind);
  if (isWhole && archiveAfter === Number.POSITIVE_INFINITY) return;
  const doubled = faults.filter(({ fault }) => fault === 'double');
  const [first] = doubled;
  if (doubled.length === 1 && first !== undefined && named.has(first.number)) {
    const copies = (api.counts.get(first.number) ?? 0) - (deeds.resent.get(first.number) ?? 0);
    const isBounded = copies <= (api.before.has(first.number) ? 4 : 3);
    if (isBounded) faults.splice(faults.indexOf(first), 1);
  }
  const isRefused = ({ fault, number, detail }: FaultFound) =>
    fault === 'falsely given up' && detail.startsWith('refused') && api.before.has(number);
  for (const one of faults.filter(isRefused)) faults.splice(faults.indexOf(one), 1);
}

/** A number with how often the API stored it for us, what the ledger says, and what the reports say. */
type Judged = { number: string; times: number; standing: Standing; outcomes: ReadonlySet<Outcome> };

function outcomesByNumber({ files }: World): Map<string, Set<Outcome>> {
  const numbers = new Map<string, Set<Outcome>>();
  for (const { orders, report } of files.all) {
    for (const { number } of orders) {
      if (number !== '' && !numbers.has(number)) numbers.set(number, new Set());
    }
    for (const { result } of report?.rows ?? [])
      numbers.get(result.purchaseOrderNumber)?.add(result.outcome);
  }
  return numbers;
}

/** After a rollback the ledger may have forgotten an order; then its report says what people believe of it. */
function toldOf({ files, rolledBackAt }: World, number: string, standing: Standing): Standing {
  if (standing.state !== 'forgotten' || rolledBackAt === undefined) return standing;
  const told = files.all
    .findLast(({ report }) => report?.told.has(number))
    ?.report?.told.get(number);
  // A dead letter that was sent again when Redis forgot it is still a dead letter in its report.
  return told === undefined || isInProgress(told) ? standing : told;
}

function isInProgress({ state }: Standing): boolean {
  return state === 'queued' || state === 'sending' || state === 'retry' || state === 'unknown';
}

/**
 * The order that never gets through waits for the end of a pause or for its next attempt, and a doubt waits for a list while
 * the list cannot tell; `status` shows each with a reason.
 */
function waitsVisibly({ store, weather, deeds }: World, number: string): boolean {
  if (isStuckOnList(store, weather, deeds)) {
    const wait = waitIn(store, number);
    return wait?.code === 'first-list';
  }
  if (weather.stickyOrder === 'none' || store.hget(KEYS.breaker, 'code') === null) return false;
  const wait = waitIn(store, number);
  if (wait === undefined || waitReason(wait) === undefined || wait.until === undefined)
    return false;
  const { code } = wait;
  return code === 'list' || (number === STICKY_ORDER && (code === 'pause' || code === 'retry'));
}

/** An order that is left to a person, of which `status` does not say why. */
function silentFaultOf(
  { number, standing: { entry } }: Judged,
  { store }: World,
): Fault | undefined {
  const wait = entry && waitIn(store, number);
  return wait?.code === 'person' && !wait.facts.says ? 'waits without a reason' : undefined;
}

function faultOf({ number, times, standing: { state } }: Judged, world: World): Fault | undefined {
  const { deeds, api } = world;
  const resent = deeds.resent.get(number) ?? 0;
  if (times > 1 + resent) return 'double';
  switch (state) {
    case 'accepted':
    case 'rebuilt':
      return times === 0 && !api.others.has(number) && !deeds.wronglyConfirmed.has(number)
        ? 'lost'
        : undefined;
    case 'renumbered':
    case 'forgotten':
      return undefined;
    case 'refused':
    case 'failed':
      return times === 0 || resent > 0 ? undefined : 'falsely given up';
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

/** Whether the reports say of a number what the API says. After a rollback the ledger knows the API's list only. */
function reportedFaultOf(
  { number, times, standing, outcomes }: Judged,
  world: World,
): Fault | undefined {
  const { api, deeds, rolledBackAt } = world;
  if (rolledBackAt !== undefined || api.others.has(number) || !isReported(world, number))
    return undefined;
  const only = (...some: Outcome[]) => [...outcomes].every((one) => some.includes(one));
  const isConfirmed = deeds.wronglyConfirmed.has(number);
  if (times === 0 && outcomes.has('accepted') && !isConfirmed) return 'lost';
  const mayBeAnother = isConfirmed || standing.state === 'renumbered';
  const isNone = times === 0 && only('duplicate', 'cancelled') && !mayBeAnother;
  if (isNone && waitedForIt(world, number)) return 'falsely duplicate';
  if (times === 0 || api.before.has(number)) return undefined;
  // A person said wrongly that the API does not have it; from then on it was an order that was never sent.
  const wasDenied = deeds.resent.has(number);
  if (only('cancelled', 'invalid') && !wasDenied) return 'sent though withdrawn';
  const isTold = outcomes.has('accepted') || outcomes.has('duplicate') || wasDenied;
  return standing.state === 'forgotten' && !isTold ? 'falsely given up' : undefined;
}

/** A file reports it as a duplicate that waited for it: that of an export does not wait. */
function waitedForIt({ files }: World, number: string): boolean {
  return files.all.some(({ kind, report }) => {
    const rows = kind === 'export' ? [] : (report?.rows ?? []);
    return rows.some(
      ({ result: { purchaseOrderNumber: of, outcome } }) =>
        of === number && outcome === 'duplicate',
    );
  });
}

/** Every file with the number has its report. */
function isReported({ files }: World, number: string): boolean {
  return files.all.every(
    ({ report, orders }) => report !== undefined || !orders.some((one) => one.number === number),
  );
}

function hastyFaultOf(
  { standing: { state, entry } }: Judged,
  { weather }: World,
): Fault | undefined {
  if (state === 'failed')
    return (entry?.used ?? 0) < weather.attempts ? 'given up too soon' : undefined;
  if (state !== 'inDoubt' || entry === undefined || entry.misnamed) return undefined;
  if (weather.listForbidden || weather.rewritesNumbers) return undefined;
  return hasWaited(entry, weather.settle) ? undefined : 'given up too soon';
}

/** Lists that cannot tell leave an order to a person after ten settles. */
function hasWaited({ askedSince, version }: Entry, settle: number): boolean {
  // A version is the time of the last change.
  return askedSince !== undefined && version - askedSince >= 10 * settle;
}

function refusedFaultOf({ number, times }: Judged, { files }: World): Fault | undefined {
  const mine = files.all.flatMap(({ orders }) =>
    orders.filter((order) => order.number === number && order.valid),
  );
  const areRefused = mine.every((order) => order.valid && isRefused(order.order.items));
  return times > 0 && mine.length > 0 && areRefused ? 'sent though refused' : undefined;
}

/** So many calls in so many milliseconds, of every endpoint, while no order is accepted. */
const MOST_CALLS = 50;
const SPAN = 10_000;

function hammerings({ calls, successes }: World): FaultFound[] {
  return (['create', 'list', 'token'] as const).flatMap((endpoint) => {
    const times = calls.filter((call) => call.endpoint === endpoint).map(({ at }) => at);
    const first = times.find((at, i) => isHammered(times, i, successes) && at >= 0);
    if (first === undefined) return [];
    return [
      {
        fault: 'hammered' as const,
        number: endpoint,
        detail: `from ${(first / 1000).toFixed(3)} on`,
      },
    ];
  });
}

function isHammered(times: readonly number[], from: number, successes: readonly number[]): boolean {
  const [first = 0, last = Number.POSITIVE_INFINITY] = [times[from], times[from + MOST_CALLS]];
  return last - first < SPAN && !successes.some((at) => at >= first - 1000 && at <= last);
}
