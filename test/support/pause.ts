import type { OwnCause, PauseCause } from '../../src/ledger/pause-cause.ts';

/** A pause for what somebody answered. */
export function answered(code: string, says: string): PauseCause {
  return { code, facts: { says, answer: code } };
}

/** A pause by an operator. */
export function byOperator(who: string, why?: string): OwnCause {
  return { code: 'operator', facts: { who, ...(why === undefined ? {} : { why }) } };
}

/** The pause of a ledger that lost something. */
export const ROLLED: OwnCause = { code: 'ledger-rolled-back', facts: { loss: 'rolled-back' } };
