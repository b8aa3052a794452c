import type { Clock } from '../core/clock.ts';
import { createSemaphore } from '../core/semaphore.ts';

/** How the wait for a place ended; `late` and `stopped` are without one. */
export type Turn = 'at once' | 'waited' | 'late' | 'stopped';

/** What an attempt holds: the right to an intent, and, once it took one, a place among the calls in flight. */
export type Place = {
  /** Waits until one more call may begin while delivery ramps up. */
  enter(): Turn | Promise<Turn>;
  /** Gives back what `enter` gave, to wait for something else. */
  leave(): void;
  /** The API answered about the order: one more call may be in flight. */
  answered(): void;
  /** Takes a place; call it once. */
  take(): Promise<Turn>;
  /** Ends the hold early. */
  release(): void;
};

type PlacesDeps = {
  /** Calls in flight. */
  concurrency: number;
  /** Maximum number of intents that wait for a place. */
  ahead: number;
  clock: Clock;
  stopping: AbortSignal;
  /** Changes while delivery is paused or slowed down. */
  troubles: () => number;
};

/** Milliseconds between two calls until one is answered. */
const SPACING = 250;
/** Milliseconds. No more intents are prepared than places became free in so long, so that a slow API gets few. */
const RECENT = 500;
/** Milliseconds an intent waits for a place: half of the time that it is fresh. */
const LONGEST = 1_000;
const TICK = 250;

/**
 * The places of calls in flight, and the intents that are prepared while all of them are in use: when a place becomes
 * free, the bytes of the next order go out without a wait for Redis. Never more than `concurrency + ahead` intents.
 */
export function createPlaces({ concurrency, ahead, clock, stopping, troubles }: PlacesDeps) {
  const opening = createOpening({ concurrency, clock, stopping, troubles });
  const freed = countRecent(clock);
  const calls = createCalls({ concurrency, clock, stopping });
  const intents = createSemaphore(() => concurrency + Math.min(ahead, freed.count()));

  /** Runs one attempt. `isFirst`: the others wait for it, also those that hold places. */
  function hold<T>(task: (place: Place) => Promise<T>, isFirst = false): Promise<T> {
    const run = async (releaseIntent: () => void) => {
      let isInPlace = false;
      let hasEntered = false;
      const enter = () => {
        hasEntered = true;
        return opening.enter();
      };
      const leave = () => {
        if (hasEntered) opening.leave();
        hasEntered = false;
      };
      const take = async () => {
        const turn = await calls.enter();
        isInPlace = turn === 'at once' || turn === 'waited';
        return turn;
      };
      const release = () => {
        leave();
        if (isInPlace) {
          isInPlace = false;
          freed.add();
          calls.leave();
        }
        releaseIntent();
      };
      try {
        return await task({ enter, leave, answered: opening.widen, take, release });
      } finally {
        release();
      }
    };
    return isFirst ? run(() => undefined) : intents.hold(run);
  }

  return { hold };
}

/**
 * Ramps delivery up, at its start and after trouble: until a call is answered, one begins every `SPACING` milliseconds.
 * Then as many may be in flight as were answered, until `concurrency` is reached.
 */
function createOpening({ concurrency, clock, stopping, troubles }: Omit<PlacesDeps, 'ahead'>) {
  const answered = countAnswered(troubles, concurrency);
  const waiting: ((turn: Turn) => void)[] = [];
  let inUse = 0;
  let beganAt = Number.NEGATIVE_INFINITY;
  let isWatching = false;

  function mayBegin(): boolean {
    const width = answered.count();
    return width >= concurrency || inUse < width || clock.monotonic() - beganAt >= SPACING;
  }

  function begin(): void {
    inUse += 1;
    beganAt = clock.monotonic();
  }

  function enter(): Turn | Promise<Turn> {
    if (waiting.length === 0 && mayBegin()) {
      begin();
      return 'at once';
    }
    const turn = new Promise<Turn>((end) => waiting.push(end));
    if (!isWatching) void admitInTime();
    return turn;
  }

  function leave(): void {
    inUse -= 1;
    admit();
  }

  function widen(): void {
    if (answered.add()) admit();
  }

  function admit(): void {
    while (waiting.length > 0 && (stopping.aborted || mayBegin())) {
      begin();
      waiting.shift()?.('waited');
    }
  }

  /** One timer for all that wait. Never rejects. */
  async function admitInTime(): Promise<void> {
    isWatching = true;
    while (waiting.length > 0) {
      await clock.sleep(Math.max(1, beganAt + SPACING - clock.monotonic()), stopping);
      admit();
    }
    isWatching = false;
  }

  return { enter, leave, widen };
}

/** Counts answered calls since the last trouble, at most `most`. */
function countAnswered(troubles: () => number, most: number) {
  let seen = troubles();
  let answered = 0;

  function count(): number {
    if (seen !== troubles()) answered = 0;
    seen = troubles();
    return answered;
  }

  /** False when the count is full. */
  function add(): boolean {
    if (count() >= most) return false;
    answered += 1;
    return true;
  }

  return { count, add };
}

/** The calls in flight: who waits longest is next, unless the wait becomes too long. */
function createCalls({ concurrency, clock, stopping }: Omit<PlacesDeps, 'ahead' | 'troubles'>) {
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
      for (let first = waiting[0]; first && first.since <= latest; first = waiting[0])
        waiting.shift()?.end('late');
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
