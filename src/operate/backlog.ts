import { type CircuitBreaker, OPERATOR } from '../deliver/circuit-breaker.ts';
import type { Batches } from '../ledger/batches.ts';
import type { Ledger } from '../ledger/ledger.ts';

type Deps = {
  ledger: Ledger;
  batches: Batches;
  breaker: CircuitBreaker;
  /** How many files are being read now. */
  reading: () => number;
};

export type Backlog = ReturnType<typeof createBacklog>;

/** The work that is left, over all daemons of an environment. */
export function createBacklog({ ledger, batches, breaker, reading }: Deps) {
  /** How many orders, batches and reports are not finished. */
  async function unfinished(): Promise<number> {
    const [orders, underWay, reports] = await Promise.all([
      ledger.unsettled(),
      batches.underWay(),
      batches.toRefresh(),
    ]);
    return orders + underWay.length + reports.length + reading();
  }

  /** Why nothing continues without a person: an operator paused delivery, or only held batches are left. */
  async function waitsForPerson(): Promise<string | undefined> {
    const pause = breaker.current();
    if (pause?.code === OPERATOR) return pause.reason;
    const underWay = await batches.underWay();
    // The file of a held batch may be read only in part.
    const partlyRead = underWay.filter(({ state }) => state === 'reading').length;
    const onlyHeld = underWay.length > 0 && underWay.every(({ held }) => held !== undefined) && reading() <= partlyRead;
    return onlyHeld ? underWay[0]?.held?.reason : undefined;
  }

  return {
    unfinished,
    waitsForPerson,
    underWay: batches.underWay,
    find: batches.find,
    /** Why delivery is paused now, as far as this daemon knows. */
    pause: breaker.current,
  };
}
