import type { Seen } from '../api/classify.ts';
import type { BearerToken, TokenSource } from '../api/token.ts';
import type { Policy } from '../ledger/state.ts';
import type { CircuitBreaker, Pass } from './circuit-breaker.ts';

/** Failures in a row, by any orders, after which it is the API that is down; at any rate before one order used up its attempts. */
const DOWN_AFTER = 5;

export type Health = ReturnType<typeof createHealth>;

/** Reads from every attempt how the environment is, and closes or opens the gate accordingly. */
export function createHealth({
  breaker,
  tokens,
  policy,
}: {
  breaker: CircuitBreaker;
  tokens: TokenSource;
  policy: Policy;
}) {
  const downAfter = Math.max(1, Math.min(DOWN_AFTER, policy.attempts - 1));
  let failures = 0;
  /** The token that a 401 took away, until any other answer comes. */
  let replaced: string | undefined;

  /** Takes note of one attempt: what it showed, how it had passed the gate, and with which token. */
  async function note(seen: Seen, pass: Pass, token: BearerToken): Promise<void> {
    if (seen.kind !== 'unauthorized' && seen.kind !== 'unsent') replaced = undefined;
    switch (seen.kind) {
      case 'accepted':
      case 'refused':
        failures = 0;
        if (seen.kind === 'accepted') await breaker.accepted();
        if (pass === 'probe') await breaker.open();
        return;
      case 'unauthorized':
        return tokenRefused(token.fingerprint, seen.said.message);
      case 'closed':
        return breaker.close(`http-${seen.said.httpStatus ?? 0}`, seen.said.message);
      case 'busy':
        if (seen.everyone) return breaker.slowDown(seen.retryAfter ?? policy.backoff(1));
        return failed(seen.said.message);
      case 'unsent':
      case 'unknown':
        return failed(seen.said.message);
    }
  }

  /** One renewal is due after a 401; when the new token is refused as well, it is not the token. */
  async function tokenRefused(fingerprint: string, reason: string): Promise<void> {
    await tokens.invalidate(fingerprint);
    if (replaced !== undefined && replaced !== fingerprint) await breaker.close('token-not-taken', reason);
    else replaced = fingerprint;
  }

  async function failed(reason: string): Promise<void> {
    failures += 1;
    if (failures >= downAfter) await breaker.close('api-down', reason);
  }

  return { note };
}
