import type { Seen } from '../api/classify.ts';
import type { Policy, Verdict } from '../ledger/transitions/step.ts';

/** What an attempt says about its order, for the ledger. `now` is Redis time in milliseconds. */
export function verdictOf(seen: Seen, now: number, policy: Policy): Verdict {
  switch (seen.kind) {
    case 'accepted':
      return { kind: 'accepted' };
    case 'refused':
      return { kind: 'refused', answer: seen.said };
    case 'misnamed':
      return { kind: 'misnamed', answer: seen.said };
    case 'unknown':
      return { kind: 'unknown', answer: seen.said };
    case 'unsent':
      return { kind: 'postponed', answer: seen.said, until: now + policy.backoff(1) };
    case 'busy':
      return { kind: 'postponed', answer: seen.said, until: now + waitOf(seen, policy) };
    case 'unauthorized':
    case 'closed':
      return { kind: 'postponed', answer: seen.said, until: now };
  }
}

/** The longest wait of a single order, in milliseconds. A longer one is a pause, which a person can end. */
const LONGEST = 60_000;

/** When every order has to wait, the circuit breaker waits and the order itself only briefly. */
function waitOf({ everyone, retryAfter }: Extract<Seen, { kind: 'busy' }>, policy: Policy): number {
  return everyone || retryAfter === undefined ? policy.backoff(1) : Math.min(retryAfter, LONGEST);
}
