import type { Clock } from '../core/clock.ts';
import type { CheckedOrder } from '../order/order.ts';

/** Measures how fast orders get their outcome, to limit how many may wait. */
export type Throughput = {
  /** Records that an order has its outcome. */
  count(): void;
  /** Counts what other daemons delivered since the last call. Call several times a second. */
  tick(): Promise<void>;
  /** How many orders are processed in a few seconds at this pace. */
  fewSeconds(): number;
};

const WINDOW = 250;
/** The share of an estimate that remains after a slower window. */
const KEPT = 0.9;
const SECONDS = 4;
const LEAST = 100;
const MOST = 20_000;

/** Changes of the ledger that an order makes: admitted, attempt intended, outcome. */
const CHANGES = 3;

/**
 * Measures outcomes a second. Rises quickly, so that a fast API does not wait, and falls slowly. `byOthers`: how many changes
 * of the ledger other daemons made.
 */
export function measureThroughput(
  clock: Clock,
  byOthers: () => Promise<number> = async () => 0,
): Throughput {
  let perSecond = 0;
  let count = 0;
  let since = clock.monotonic();
  let others: number | undefined;

  function roll(): void {
    const passed = clock.monotonic() - since;
    if (passed < WINDOW) return;
    const pace = (count * 1000) / passed;
    const kept = KEPT ** (passed / WINDOW);
    perSecond = pace > perSecond ? pace : perSecond * kept + pace * (1 - kept);
    count = 0;
    since = clock.monotonic();
  }

  return {
    count() {
      count += 1;
      roll();
    },
    async tick() {
      const now = await byOthers();
      if (others !== undefined) count += Math.max(0, now - others) / CHANGES;
      others = now;
      roll();
    },
    fewSeconds() {
      roll();
      return Math.min(MOST, Math.max(LEAST, Math.round(perSecond * SECONDS)));
    },
  };
}

/** Milliseconds for which a page waits before the rest of its file is looked at. */
const PATIENCE = 1_000;

export type LookAheadDeps = {
  clock: Clock;
  pages(): AsyncGenerator<CheckedOrder[]>;
  /** Counts those that failed a check. */
  count(orders: readonly CheckedOrder[]): Promise<void>;
};

/**
 * Counts orders that failed a check before their turn, so that people see them while delivery is paused. Reads the file once
 * more, and only while a page waits.
 */
export function createLookAhead({ clock, pages, count }: LookAheadDeps) {
  let rest: AsyncGenerator<CheckedOrder[]> | undefined;

  async function look(after: number, signal: AbortSignal): Promise<void> {
    rest ??= pages();
    while (!signal.aborted) {
      const { value: orders, done } = await rest.next();
      if (done) return;
      await count(orders.filter(({ ordinal }) => ordinal > after));
    }
  }

  return {
    /** Looks at the orders after this ordinal until the page is admitted; false if that does not take long. */
    async during(admitting: Promise<unknown>, after: number): Promise<boolean> {
      const admitted = new AbortController();
      const end = () => admitted.abort();
      admitting.then(end, end);
      await clock.sleep(PATIENCE, admitted.signal);
      if (admitted.signal.aborted) return false;
      // What fails here fails again when the orders are admitted.
      await look(after, admitted.signal).catch(() => undefined);
      return true;
    },
    [Symbol.asyncDispose]: async () => void (await rest?.return(undefined)),
  };
}
