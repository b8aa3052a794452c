import type { Seen } from '../api/classify.ts';
import type { BearerToken, TokenSource } from '../api/token.ts';
import type { Policy } from '../ledger/state.ts';
import type { RedisTime } from '../redis/redis-time.ts';
import type { CircuitBreaker, Pass } from './circuit-breaker.ts';

/** Failures in a row, of any orders, that trip the breaker; at most as many as leave every order one attempt. */
const DOWN_AFTER = 5;
/** Milliseconds. While an order was accepted so recently, one that is turned away says little about the environment. */
const RECENT = 10_000;
/** Milliseconds. A longer wait that the API asks for is a pause with a reason, which a person can end. */
const LONG_WAIT = 5_000;
/** Milliseconds. The shortest wait after a 429. */
const SHORT_WAIT = 250;

/** One attempt as far as it says something about the environment. */
export type Sign = {
  seen: Seen;
  pass: Pass;
  token: BearerToken /** When its intent was made, Redis time. */;
  began: number;
};

export type Health = ReturnType<typeof createHealth>;

type HealthDeps = { breaker: CircuitBreaker; tokens: TokenSource; time: RedisTime; policy: Policy };

/**
 * Reads from every attempt how the environment is. One rule for all failures: while nothing succeeds, delivery slows
 * down. A success is an answer about the order; everything else counts until the breaker trips.
 */
export function createHealth({ breaker, tokens, time, policy }: HealthDeps) {
  const downAfter = Math.max(1, Math.min(DOWN_AFTER, policy.attempts - 1));
  let failures = 0;
  /** The grant that the last 401 took away, until an order is answered. */
  let renewed: string | undefined;
  let slowedAt = 0;

  async function note({ seen, pass, token, began }: Sign): Promise<void> {
    switch (seen.kind) {
      case 'accepted':
      case 'misnamed':
        await breaker.accepted();
        return succeeded(pass);
      case 'refused':
        return succeeded(pass);
      case 'unauthorized':
        return unauthorized(token.fingerprint, seen.said.message);
      case 'closed':
        return turnedAway(seen);
      case 'busy':
        return busy(seen, began);
      case 'unsent':
        return failed('api-down', seen.said.message);
      case 'unknown':
        if (!isEmptySuccess(seen)) return failed('api-down', seen.said.message);
        // Once the list has shown that such answers mean "created", they slow nothing down.
        if (breaker.answersAreClear()) return;
        return failed('answers-unclear', `${seen.said.message}; the list will show whether the orders were created`);
    }
  }

  async function succeeded(pass: Pass): Promise<void> {
    failures = 0;
    renewed = undefined;
    if (pass === 'probe') await breaker.reset();
  }

  /** A 401 is worth one renewal. When the next token is refused too, whether or not it is another one, it is not the token. */
  async function unauthorized(fingerprint: string, reason: string): Promise<void> {
    await tokens.invalidate(fingerprint);
    if (renewed === undefined || renewed === fingerprint) renewed = fingerprint;
    else await failedNow('token-not-accepted', reason);
  }

  async function turnedAway({ said }: Extract<Seen, { kind: 'closed' }>): Promise<void> {
    const code = `http-${said.httpStatus ?? 0}`;
    if (await breaker.acceptedSince(time.now() - RECENT)) await failed(code, said.message);
    else await failedNow(code, said.message);
  }

  /** A short wait is not a pause the first time; a long one is, and a second one without success in between. */
  async function busy({ said, everyone, retryAfter }: Extract<Seen, { kind: 'busy' }>, began: number): Promise<void> {
    const wait = retryAfter ?? Math.max(SHORT_WAIT, policy.backoff(1));
    const code = `http-${said.httpStatus ?? 0}`;
    const isItsOwn = !everyone && (wait <= LONG_WAIT || (await breaker.acceptedSince(time.now() - RECENT)));
    if (isItsOwn) return failed(code, said.message);
    // Calls that were on their way when the API first asked belong to the same wait.
    const isSame = began < slowedAt;
    const passes = wait <= LONG_WAIT && (isSame || (await breaker.acceptedSince(slowedAt)));
    if (!isSame) slowedAt = time.now();
    if (passes) await breaker.slowDown(wait);
    else await breaker.trip(code, `${said.message}; the API asks to wait ${Math.ceil(wait / 1000)} s`, wait);
  }

  async function failed(code: string, reason: string): Promise<void> {
    failures += 1;
    if (failures >= downAfter) await breaker.trip(code, reason);
  }

  async function failedNow(code: string, reason: string): Promise<void> {
    failures += 1;
    await breaker.trip(code, reason);
  }

  return { note };
}

/** A 2xx that does not say whether the order was created. */
function isEmptySuccess({ said }: Extract<Seen, { kind: 'unknown' }>): boolean {
  return said.httpStatus !== undefined && said.httpStatus >= 200 && said.httpStatus < 300 && said.code !== 'no-answer';
}
