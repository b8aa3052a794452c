import type { ListEnd, ListedOrder, ListQuery, ReadList } from '../../src/api/list.ts';
import type { Http, HttpEnd } from '../../src/core/http.ts';
import type { CircuitBreaker } from '../../src/deliver/circuit-breaker.ts';
import { type Entry, type Known, sameFileResult } from '../../src/ledger/entry.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { next } from '../../src/ledger/state-machine/next.ts';
import type { Policy, Step } from '../../src/ledger/state-machine/step.ts';
import type { Canaries } from '../../src/reconcile/canaries.ts';
import type { ListProof } from '../../src/reconcile/list-proof.ts';
import { unsent } from './answers.ts';
import type { Breach } from './weather.ts';

/** The ledger without one of its safeguards; with all of them when none is to be left out. */
export function weakLedger(ledger: Ledger, breach: Breach | undefined, policy: Policy): Ledger {
  switch (breach) {
    case 'no intent':
      return withoutIntent(ledger);
    case 'no fence':
      return withoutFence(ledger);
    case 'conflict forgotten':
      return withoutConflicts(ledger);
    case 'no patience':
      return {
        ...ledger,
        take: (entry, step, ...rest) => ledger.take(entry, patient(entry, step), ...rest),
      };
    case 'duplicates counted at once':
      return { ...ledger, join: countedAtOnce(ledger) };
    case 'one list is enough':
      return {
        ...ledger,
        take: (entry, step, ...rest) => ledger.take(entry, oneList(entry, step, policy), ...rest),
      };
    default:
      return ledger;
  }
}

/** An attempt is written down only when its end is known. */
function withoutIntent(ledger: Ledger): Ledger {
  const written = new WeakMap<Entry, Entry>();
  return {
    ...ledger,
    async take(entry, step, ...rest) {
      if (step.kind === 'move' && step.entry.state === 'sending') {
        written.set(step.entry, entry);
        return true;
      }
      const version = written.get(entry)?.version ?? entry.version;
      return ledger.take({ ...entry, version }, step, ...rest);
    },
  };
}

/** What the list showed is no reason not to send. */
function withoutConflicts(ledger: Ledger): Ledger {
  return {
    ...ledger,
    lookup: async (numbers) => (await ledger.lookup(numbers)).map(forgotten),
  };
}

function forgotten(known: Known): Known {
  if (known.kind !== 'open' || known.entry.state !== 'conflict') return known;
  return { kind: 'open', entry: { ...known.entry, state: 'failed' } };
}

/** An order in doubt waits as long as no list can tell. */
function patient(entry: Entry, step: Step): Step {
  const isGivenUp =
    step.kind === 'dead' && step.entry.state === 'inDoubt' && entry.state === 'unknown';
  return isGivenUp && entry.askedSince !== undefined ? { kind: 'ignore' } : step;
}

/** A duplicate of an order in progress is counted as such, whatever becomes of that order. */
function countedAtOnce(ledger: Ledger): Ledger['join'] {
  return async ({ order, version: at }, _, { batch, ordinal }) => {
    const result = sameFileResult(at);
    await ledger.count(batch, at, [{ ordinal, number: order.purchaseOrderNumber, result }]);
    return true;
  };
}

/** Orders in doubt trust the list; the order of a new ledger proves it all the same. */
export function withoutReach(proof: ListProof) {
  return { ...proof, rules: { ...proof.rules, mode: 'trust' as const } };
}

/** A circuit breaker that nothing trips, or that does not see a person's pause. */
export function weakBreaker(breaker: CircuitBreaker, breach: Breach | undefined): CircuitBreaker {
  const never = async () => false;
  if (breach === 'no circuit breaker') return { ...breaker, trip: never, slowDown: never };
  if (breach === 'pause unnoticed')
    return { ...breaker, pass: async () => 'closed', stillPasses: async () => true };
  return breaker;
}

/** A list that cannot be read counts as one without orders. */
export async function hopefulList(reading: Promise<ListEnd>): Promise<ListEnd> {
  const end = await reading;
  return end.kind === 'failed' ? { kind: 'complete', orders: 0 } : end;
}

/** Whoever comes last is right. */
function withoutFence(ledger: Ledger): Ledger {
  return {
    ...ledger,
    async take(entry, step, ...rest) {
      const [now] = await ledger.lookup([entry.order.purchaseOrderNumber]);
      return ledger.take(
        now?.kind === 'open' ? { ...entry, version: now.entry.version } : entry,
        step,
        ...rest,
      );
    },
  };
}

function oneList(entry: Entry, step: Step, policy: Policy): Step {
  if (step.kind !== 'move' || step.entry.state !== 'unknown' || step.entry.absentAt === undefined)
    return step;
  const listedFrom = step.entry.absentAt;
  return next({ ...entry, absences: 1 }, { kind: 'absent', at: listedFrom, listedFrom }, policy);
}

/** What is not a clear answer counts as nothing sent, and goes again. */
export function naiveHttp(http: Http): Http {
  return {
    ...http,
    call: async (call) => {
      const end = await http.call(call);
      return isClear(end) ? end : unsent('try again');
    },
  };
}

function isClear(end: HttpEnd): boolean {
  return end.kind === 'answered' && (end.answer.status < 300 || end.answer.status === 400);
}

const ALWAYS = 'listed whatever is cut';

/** Every list is good evidence. */
export function blindCanaries(canaries: Canaries): Canaries {
  return { ...canaries, all: async () => [{ number: ALWAYS, since: 0 }] };
}

/** A list that always contains the one canary of `blindCanaries`. */
export async function blindList(
  list: ReadList,
  onOrder: (order: ListedOrder) => void,
  query?: ListQuery,
): Promise<ListEnd> {
  onOrder({ purchaseOrderNumber: ALWAYS });
  return list(onOrder, query);
}
