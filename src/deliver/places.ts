import type { Clock } from '../core/clock.ts';
import { createSemaphore } from '../core/semaphore.ts';

/** How the wait for a place ended; `late` and `stopped` are without one. */
export type Turn = 'at once' | 'waited' | 'late' | 'stopped';

/** What an attempt holds: the right to an intent, and, once it took one, a place among the calls in flight. */
export type Place = {
  /** Takes a place; call it once. */
  take(): Promise<Turn>;
  /** Ends the hold early. */
  release(): void;
};

type PlacesDeps = {
  /** Calls in flight. */
  concurrency: number;
  /** Most intents that wait for a place. */
  ahead: number;
  clock: Clock;
  stopping: AbortSignal;
};

/** Milliseconds. No more intents are prepared than places became free in so long, so that a slow API gets few. */
const RECENT = 500;
/** Milliseconds an intent waits for a place: half of the time that it is fresh. */
const LONGEST = 1_000;
const TICK = 250;

/**
 * The places of calls in flight, and the intents that are prepared while all of them are in use: when a place becomes
 * free, the bytes of the next order go out without a wait for Redis. Never more than `concurrency + ahead` intents.
 */
export function createPlaces({ concurrency, ahead, clock, stopping }: PlacesDeps) {
  const freed = countRecent(clock);
  const calls = createCalls({ concurrency, clock, stopping });
  const intents = createSemaphore(() => concurrency + Math.min(ahead, freed.count()));

  /** Runs one attempt. */
  function hold<T>(task: (place: Place) => Promise<T>): Promise<T> {
    return intents.hold(async (releaseIntent) => {
      let isInPlace = false;
      const take = async () => {
        const turn = await calls.enter();
        isInPlace = turn === 'at once' || turn === 'waited';
        return turn;
      };
      const release = () => {
        if (isInPlace) {
          isInPlace = false;
          freed.add();
          calls.leave();
        }
        releaseIntent();
      };
      try {
        return await task({ take, release });
      } finally {
        release();
      }
    });
  }

  return { hold };
}

/** The calls in flight: who waits longest is next, unless the wait becomes too long. */
function createCalls({ concurrency, clock, stopping }: Omit<PlacesDeps, 'ahead'>) {
  const waiting: { since: number; end: (turn: Turn) => void }[] = [];
  let inUse = 0;
  let isWatching = false;

  function enter(): Turn | Promise<Turn> {
    if (stopping.aborted) return 'stopped';
    if (inUse < concurrency) {
      inUse += 1;
      return 'at once';
    }
    const turn = new Promise<Turn>((end) => waiting.push({ since: clock.monotonic(), end }));
    if (!isWatching) void endLateWaits();
    return turn;
  }

  function leave(): void {
    const next = waiting.shift();
    if (next === undefined) inUse -= 1;
    else next.end('waited');
  }

  /** One timer for all that wait. Never rejects. */
  async function endLateWaits(): Promise<void> {
    isWatching = true;
    while (waiting.length > 0) {
      await clock.sleep(TICK, stopping);
      if (stopping.aborted) for (const one of waiting.splice(0)) one.end('stopped');
      const latest = clock.monotonic() - LONGEST;
      for (let first = waiting[0]; first && first.since <= latest; first = waiting[0]) waiting.shift()?.end('late');
    }
    isWatching = false;
  }

  return { enter, leave };
}

/** Counts what happened in the last `RECENT` milliseconds, roughly: in the last full span or the current one. */
function countRecent(clock: Clock) {
  let began = clock.monotonic();
  let before = 0;
  let now = 0;

  function advance(): void {
    const spans = Math.floor((clock.monotonic() - began) / RECENT);
    if (spans === 0) return;
    before = spans === 1 ? now : 0;
    now = 0;
    began += spans * RECENT;
  }

  return {
    add(): void {
      advance();
      now += 1;
    },
    count(): number {
      advance();
      return Math.max(before, now);
    },
  };
}
