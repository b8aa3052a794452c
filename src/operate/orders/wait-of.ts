import {
  clauses,
  count,
  duration,
  orders as ordersOf,
  stamp,
  withoutStop,
} from '../../core/format.ts';
import type { Pause } from '../../deliver/breaker-view.ts';
import type { Batch } from '../../ledger/batches/batches.ts';
import type { Entry } from '../../ledger/entry.ts';
import { waitsForList } from '../../ledger/list-pauses.ts';
import type { ListFailure } from '../../reconcile/list-pace.ts';
import type { Role } from '../daemon.ts';

/**
 * What an order without an outcome waits for. `person`: a decision; `release`: its batch is held; `daemon`: none is running;
 * `first-list`: the ledger reads the API's list before anything is sent; `pause`: delivery is paused;
 * `slow-down`: the API asked every order to wait; `redis`: a connection to Redis that lasts; `retry`: its next attempt is due later; `rate-limit`; `turn`: a free call;
 * `file`: the file of its batch cannot be read on; `answer`: an attempt has begun, and it is not known whether it was sent; `list`: the API's list after an unclear answer; `order`: another file's order that it repeats; `unexamined`: more orders wait than were examined.
 */
export type WaitKind =
  | 'person'
  | 'release'
  | 'daemon'
  | 'first-list'
  | 'pause'
  | 'slow-down'
  | 'redis'
  | 'retry'
  | 'rate-limit'
  | 'turn'
  | 'answer'
  | 'list'
  | 'file-list'
  | 'order'
  | 'file'
  | 'unexamined';

/**
 * `reason`: why, as far as it is known; may be empty. `until`: when the wait ends or is checked again, Redis time in
 * milliseconds; absent when only a person or an event ends it. `role`: of the daemon that is missing, while others run.
 */
export type Wait = { for: WaitKind; reason: string; until?: number; role?: Role };

/** What all orders of an environment wait for together. Times are Redis time in milliseconds. */
export type Surroundings = {
  now: number;
  /** A daemon that delivers is alive. */
  isServed: boolean;
  /** None of these daemons has sent a heartbeat in time: they may have ended. */
  isSilent?: boolean;
  /** None of them sends orders, because each lost Redis a short time ago. */
  isUnsteady?: boolean;
  /** When the first of these daemons started that sends heartbeats; absent: none does, or it does not matter. */
  servedSince?: number;
  /** A daemon that reads files sends heartbeats. */
  isRead?: boolean;
  /** Why delivery is paused; holds first. */
  pauses: readonly Pause[];
  /** The reason of each held batch. */
  held: ReadonlyMap<string, string>;
  /** Until when the API asked every order to wait; 0: never. */
  slowUntil: number;
  /** When the rate limit allows the next call; 0: now. */
  nextTurnAt: number;
  /** When the next list may be read, 0: now; since when and why none could be read; and whether files wait for one. */
  list: { nextAt: number; failure?: ListFailure; isWanted?: boolean };
};

/**
 * What an open order waits for, and until when. `scheduledAt`: when the sweeper looks at it, or, for an order in doubt,
 * when the list may be read; Redis time. Pure; every state has an answer.
 */
export function waitOf(entry: Entry, scheduledAt: number, around: Surroundings): Wait {
  const reason = entry.answer?.message ?? '';
  switch (entry.state) {
    case 'conflict':
    case 'refused':
    case 'failed':
    case 'inDoubt':
      return { for: 'person', reason };
    case 'queued':
    case 'retry':
      return untilSent(entry, entry.state === 'retry' ? scheduledAt : 0, around);
    case 'sending':
      return inFlight(entry, entry.deadline ?? scheduledAt, around);
    case 'unknown':
      if (!around.isServed) return noDeliverer(around);
      return {
        for: 'list',
        reason: failedText(around.list) ?? reason,
        until: Math.max(scheduledAt, around.list.nextAt),
      };
  }
}

/** What keeps the list from settling anything comes before the answer that it should settle. */
function failedText({ failure }: Surroundings['list']): string | undefined {
  return failure && `every read of it since ${stamp(failure.since)} failed: ${failure.reason}`;
}

const NO_DAEMON: Wait = { for: 'daemon', reason: 'no daemon is running' };
const NO_READER: Wait = { for: 'daemon', reason: 'no daemon reads files', role: 'intake' };
const NO_DELIVERER: Wait = { for: 'daemon', reason: 'no daemon delivers', role: 'delivery' };
const SILENT: Wait = { for: 'daemon', reason: 'no daemon sends a heartbeat; it may have ended' };

/** What orders wait for while no daemon delivers. */
const noDeliverer = ({ isRead }: Pick<Surroundings, 'isRead'>): Wait =>
  isRead ? NO_DELIVERER : NO_DAEMON;

/** What files that are read in part wait for while no daemon reads. */
export const noReader = (isServed: boolean): Wait => (isServed ? NO_READER : NO_DAEMON);

/** What the rest of a file waits for: the release of its batch, until the file can be read on, or the API's list. */
export function waitOfFile(
  { batch, state, unsettled }: Batch,
  around: FileSurroundings,
): Wait | undefined {
  const { held, isRead, isServed, list } = around;
  const reason = held.get(batch);
  if (reason !== undefined) return { for: 'release', reason };
  if (unsettled) return { for: 'file', reason: unsettled.reason };
  if (state !== 'reading' || !list.isWanted || !isRead) return undefined;
  if (!isServed) return NO_DELIVERER;
  return {
    for: 'file-list',
    reason: failedText(list) ?? '',
    ...(list.failure && { until: list.nextAt }),
  };
}

type FileSurroundings = Pick<Surroundings, 'held' | 'isRead' | 'isServed' | 'list'>;

/** An attempt ends by its deadline; a daemon then notices that its answer is missing. */
function inFlight({ attempt, lastAt = 0 }: Entry, until: number, around: Surroundings): Wait {
  const { now, isServed, servedSince: since = 0 } = around;
  if (!isServed && until <= now) return noDeliverer(around);
  if (lastAt < since)
    return { for: 'list', reason: `the process of attempt ${attempt} sends no heartbeat`, until };
  return { for: 'answer', reason: `attempt ${attempt} is in flight or about to be sent`, until };
}

/** `dueAt`: when its next attempt is due; 0: at once. Of several waits, the one that only a person ends, or that lasts longest. */
function untilSent(entry: Entry, dueAt: number, around: Surroundings): Wait {
  const { now, isServed, isSilent, isUnsteady, pauses, held, slowUntil, nextTurnAt } = around;
  const heldBecause = held.get(entry.batch);
  if (heldBecause !== undefined) return { for: 'release', reason: heldBecause };
  const [pause] = pauses;
  if (pause?.held) return { for: isOfList(pause) ? 'first-list' : 'pause', reason: pause.reason };
  if (!isServed) return noDeliverer(around);
  const waits: (Wait & { until: number })[] = [
    // While delivery is paused, an order that is due is not sent, except one as a trial.
    { for: 'retry', reason: entry.answer?.message ?? '', until: pause ? 0 : dueAt },
    { for: 'slow-down', reason: 'the API asked to wait', until: slowUntil },
    // No daemon that takes its turn is no matter of the rate limit.
    { for: 'rate-limit', reason: '', until: isSilent || isUnsteady ? 0 : nextTurnAt },
  ];
  // A pause continues after the next try, unless that order is accepted.
  if (pause)
    waits.push({
      for: 'pause',
      reason: pause.reason,
      until: Math.max(pause.nextTryAt ?? 0, now + 1),
    });
  const longest = waits.reduce((one, other) => (other.until >= one.until ? other : one));
  if (longest.until > now) return longest;
  return isSilent ? SILENT : { for: isUnsteady ? 'redis' : 'turn', reason: '' };
}

function isOfList({ code }: Pause): boolean {
  return waitsForList(code);
}

/** Whether an order that waits for this may be the probe that tests whether the API accepts orders again. */
export function canBeTried(kind: WaitKind): boolean {
  switch (kind) {
    case 'daemon':
    case 'pause':
    case 'slow-down':
    case 'redis':
    case 'retry':
    case 'rate-limit':
    case 'turn':
    case 'answer':
    case 'unexamined':
      return true;
    case 'person':
    case 'release':
    case 'first-list':
    case 'list':
    case 'file-list':
    case 'order':
    case 'file':
      return false;
  }
}

const NO_DAEMONS = new Map([
  [SILENT.reason, 'a daemon; none sends a heartbeat'],
  [NO_READER.reason, 'a daemon that reads files; none is running'],
  [NO_DELIVERER.reason, 'a daemon that delivers; none is running'],
]);

type WaitToName = Pick<Wait, 'for' | 'reason'> & { orders?: number; unread?: number };

/** What an order waits for, without its time. `unread`: orders of the same files that are not read yet. */
export function waitText({ for: kind, reason, orders, unread = 0 }: WaitToName): string {
  const because = withoutStop(reason);
  const are = unread === 1 ? 'is' : 'are';
  const unreadText =
    orders === 0
      ? `${ordersOf(unread)} ${are} not read yet`
      : `${count(unread)} more ${are} read then`;
  const more = unread > 0 ? ` (${unreadText})` : '';
  const why = `${more}${because === '' ? '' : `: ${because}`}`;
  switch (kind) {
    case 'person':
      return 'a person';
    case 'release':
      return `the release of its batch${why}`;
    case 'daemon':
      return `${NO_DAEMONS.get(reason) ?? 'a daemon; none is running'}${more}`;
    case 'first-list':
      return `the API's list, before anything is sent${why}`;
    case 'pause':
      return `the end of the pause${why}`;
    case 'slow-down':
      return `the end of a wait that the API asked for${more}`;
    case 'redis':
      return `a connection to Redis that lasts${more}`;
    case 'retry':
      return `its next attempt${why}`;
    case 'rate-limit':
      return `its turn under the rate limit${more}`;
    case 'turn':
      return `a free slot for a call${more}`;
    case 'answer':
      return `an answer of the API${why}`;
    case 'list':
      return `the API's list, to settle an unclear answer${why}`;
    case 'file-list':
      return `the API's list, before the orders of a new file${why}`;
    case 'order':
      return 'the same order of another file';
    case 'file':
      return `the file of its batch${why}`;
    case 'unexamined':
      return `not examined one by one${more}`;
  }
}

/** What an order waits for and when that is checked again, as a clause. */
export function waitClause(wait: Wait, now: number): string {
  const until = untilText(wait, now);
  return clauses(waitText(wait), /^in |^now$/.test(until) ? `next check ${until}` : '');
}

/** When a wait ends or is checked again, as a phrase; empty where no time is known. */
export function untilText({ for: kind, until }: Pick<Wait, 'for' | 'until'>, now: number): string {
  if (until === undefined) return '';
  if (until - now >= 1_000) return `in ${duration(until - now)}`;
  // One try, of an order or the list, may end the wait, or not.
  return ['pause', 'list', 'file-list'].includes(kind) ? 'being tried now' : 'now';
}
