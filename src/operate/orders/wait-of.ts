import type { Pause } from '../../deliver/breaker-view.ts';
import type { Batch } from '../../ledger/batches/batches.ts';
import type { Entry } from '../../ledger/entry.ts';
import { type PauseCause, waitsForList } from '../../ledger/pause-cause.ts';
import type { ListFailure, WaitCause, WaitKind } from '../../ledger/wait-cause.ts';
import type { FileWait } from '../../order/file-wait.ts';

/** `until`: when the wait ends or is checked again, Redis time in milliseconds; absent when only a person or an event ends it. */
export type Wait = WaitCause & { until?: number };

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
  /** Why each held batch waits. */
  held: ReadonlyMap<string, FileWait>;
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
  const says = saysOf(entry);
  switch (entry.state) {
    case 'conflict':
    case 'refused':
    case 'failed':
    case 'inDoubt':
      return { code: 'person', facts: says };
    case 'queued':
    case 'retry':
      return untilSent(entry, entry.state === 'retry' ? scheduledAt : 0, around);
    case 'sending':
      return inFlight(entry, entry.deadline ?? scheduledAt, around);
    case 'unknown':
      if (!around.isServed) return noDeliverer(around);
      return {
        code: 'list',
        // What keeps the list from settling anything comes before the answer that it should settle.
        facts: around.list.failure ? { failure: around.list.failure } : says,
        until: Math.max(scheduledAt, around.list.nextAt),
      };
  }
}

/** How the last attempt ended. */
const saysOf = ({ answer }: Entry) => (answer ? { says: answer.message } : {});

/** What orders wait for while no daemon delivers. */
const noDeliverer = ({ isRead }: Pick<Surroundings, 'isRead'>): Wait => ({
  code: 'daemon',
  facts: { lacks: isRead ? 'delivery' : 'all' },
});

/** What files that are read in part wait for while no daemon reads. */
export const noReader = (isServed: boolean): Wait => ({
  code: 'daemon',
  facts: { lacks: isServed ? 'intake' : 'all' },
});

/** What the rest of a file waits for: the release of its batch, until the file can be read on, or the API's list. */
export function waitOfFile(
  { batch, state, unsettled }: Batch,
  around: FileSurroundings,
): Wait | undefined {
  const { held, isRead, isServed, list } = around;
  const wait = held.get(batch);
  if (wait !== undefined) return { code: 'release', facts: wait };
  if (unsettled) {
    const { code, reason } = unsettled;
    return { code: 'file', facts: { code, reason } };
  }
  if (state !== 'reading' || !list.isWanted || !isRead) return undefined;
  if (!isServed) return noDeliverer(around);
  const { failure, nextAt } = list;
  return {
    code: 'file-list',
    ...(failure ? { facts: { failure }, until: nextAt } : { facts: {} }),
  };
}

type FileSurroundings = Pick<Surroundings, 'held' | 'isRead' | 'isServed' | 'list'>;

/** An attempt ends by its deadline; a daemon then notices that its answer is missing. */
function inFlight({ attempt, lastAt = 0 }: Entry, until: number, around: Surroundings): Wait {
  const { now, isServed, servedSince: since = 0 } = around;
  if (!isServed && until <= now) return noDeliverer(around);
  if (lastAt < since) return { code: 'list', facts: { attempt }, until };
  return { code: 'answer', facts: { attempt }, until };
}

/** `dueAt`: when its next attempt is due; 0: at once. Of several waits, the one that only a person ends, or that lasts longest. */
function untilSent(entry: Entry, dueAt: number, around: Surroundings): Wait {
  const { now, isServed, isSilent, isUnsteady, pauses, held, slowUntil, nextTurnAt } = around;
  const fileWait = held.get(entry.batch);
  if (fileWait !== undefined) return { code: 'release', facts: fileWait };
  const [pause] = pauses;
  if (pause?.held)
    return { code: waitsForList(pause.code) ? 'first-list' : 'pause', facts: causeOf(pause) };
  if (!isServed) return noDeliverer(around);
  const waits: (Wait & { until: number })[] = [
    // While delivery is paused, an order that is due is not sent, except one as a trial.
    { code: 'retry', facts: saysOf(entry), until: pause ? 0 : dueAt },
    { code: 'slow-down', facts: {}, until: slowUntil },
    // No daemon that takes its turn is no matter of the rate limit.
    { code: 'rate-limit', facts: {}, until: isSilent || isUnsteady ? 0 : nextTurnAt },
  ];
  // A pause continues after the next try, unless that order is accepted.
  if (pause)
    waits.push({
      code: 'pause',
      facts: causeOf(pause),
      until: Math.max(pause.nextTryAt ?? 0, now + 1),
    });
  const longest = waits.reduce((one, other) => (other.until >= one.until ? other : one));
  if (longest.until > now) return longest;
  if (isSilent) return { code: 'daemon', facts: { lacks: 'heartbeat' } };
  return { code: isUnsteady ? 'redis' : 'turn', facts: {} };
}

const causeOf = ({ code, facts }: Pause) => ({ code, facts }) as PauseCause;

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
