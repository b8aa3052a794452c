import { type Seen, withStatus } from '../api/classify.ts';
import type { BearerToken, TokenSource } from '../api/token.ts';
import { clauses } from '../core/format.ts';
import { isNetworkCode } from '../core/network-error.ts';
import type { Policy } from '../ledger/state-machine/step.ts';
import type { RedisTime } from '../redis/time.ts';
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
  token: BearerToken;
  /** When its intent was made, ledger time. */
  began: number;
};

export type PauseRules = ReturnType<typeof createPauseRules>;

type PauseRulesDeps = {
  breaker: CircuitBreaker;
  tokens: TokenSource;
  time: RedisTime;
  policy: Policy;
  /** Milliseconds from a pause to its first try, unless the API asks for more. */
  firstTry: number;
};

/**
 * Derives the state of the environment from every attempt. One rule for all failures: while nothing succeeds, delivery slows
 * down. A success is an answer about the order; everything else counts until the breaker trips.
 */
export function createPauseRules({ breaker, tokens, time, policy, firstTry }: PauseRulesDeps) {
  const downAfter = Math.max(1, Math.min(DOWN_AFTER, policy.attempts - 1));
  const slowDown = createSlowDown({ breaker, time, policy });
  const acceptedRecently = () => breaker.acceptedSince(time.now() - RECENT);
  let failures = 0;
  /** Until when the failures in a row asked to wait, ledger time; the longest wait counts. */
  let askedUntil = 0;
  /** The grant that the last 401 ended, until an order is answered. */
  let renewed: string | undefined;

  async function note({ seen, pass, token, began }: Sign): Promise<void> {
    // A probe begins when the wait is over, or a person ended it.
    if (pass === 'probe') askedUntil = 0;
    switch (seen.kind) {
      case 'accepted':
      case 'misnamed':
        await breaker.accepted();
        return succeeded(pass);
      case 'refused':
        return succeeded(pass);
      case 'unauthorized':
        return unauthorized(token.fingerprint, withStatus(seen.said));
      case 'closed':
        return failed(seen, await acceptedRecently());
      case 'busy':
        if (!seen.everyone && (isShort(seen) || (await acceptedRecently()))) return failed(seen);
        return slowDown(seen, began);
      case 'unsent':
        return failed(seen);
      case 'unknown':
        // Once the list has shown that such answers mean "created", they slow nothing down.
        if (!isEmptySuccess(seen) || !breaker.answersAreClear()) await failed(seen);
    }
  }

  async function succeeded(pass: Pass): Promise<void> {
    failures = 0;
    askedUntil = 0;
    renewed = undefined;
    if (pass === 'probe') await breaker.reset();
  }

  /** A 401 is worth one renewal. When the next grant is refused too, even of the same token, the token is not the reason. */
  async function unauthorized(fingerprint: string, reason: string): Promise<void> {
    await tokens.invalidate(fingerprint);
    const isSecond = renewed !== undefined && renewed !== fingerprint;
    renewed ??= fingerprint;
    await (isSecond ? breaker.trip('token-not-accepted', reason) : breaker.saw('http-401', reason));
  }

  /** `othersPass`: it may be this order alone, so that it takes several in a row to trip the breaker. */
  async function failed(seen: Failure, othersPass = true): Promise<void> {
    failures += 1;
    const now = time.now();
    if (seen.kind === 'busy') askedUntil = Math.max(askedUntil, now + (seen.retryAfter ?? 0));
    const { code, reason } = causeOf(seen);
    const asked = Math.max(0, askedUntil - now);
    await (!othersPass || failures >= downAfter
      ? breaker.trip(code, withWait(reason, asked), Math.max(firstTry, asked))
      : breaker.saw(code, reason));
  }

  return {
    note,
    /** A token was refused and no order was answered since: one order at a time tries the next token. */
    isTryingToken: () => renewed !== undefined,
  };
}

type Busy = Extract<Seen, { kind: 'busy' }>;
type Failure = Extract<Seen, { kind: 'closed' | 'busy' | 'unsent' | 'unknown' }>;

/** Why delivery is paused after so many failures, by the last of them. */
function causeOf(seen: Failure): { code: string; reason: string } {
  const { httpStatus = 0 } = seen.said;
  const message = withStatus(seen.said);
  if (seen.kind === 'closed' || seen.kind === 'busy') return { code: `http-${httpStatus}`, reason: message };
  if (seen.kind === 'unsent' && isNetworkCode(seen.said.code)) return { code: seen.said.code, reason: message };
  if (seen.kind === 'unsent' || !isEmptySuccess(seen)) return { code: 'api-down', reason: message };
  return { code: 'answers-unclear', reason: clauses(message, 'the list will show whether the orders were created') };
}

const isShort = ({ retryAfter = 0 }: Busy) => retryAfter <= LONG_WAIT;

/** What happens when the API asks everyone to wait: a short wait is no pause the first time; a long one, or a second, is. */
function createSlowDown({ breaker, time, policy }: Pick<PauseRulesDeps, 'breaker' | 'time' | 'policy'>) {
  let slowedAt = 0;

  return async ({ said, retryAfter }: Busy, began: number): Promise<void> => {
    const wait = retryAfter ?? Math.max(SHORT_WAIT, policy.backoff(1));
    // Calls that were on their way when the API first asked belong to the same wait.
    const isSame = began < slowedAt;
    const passes = wait <= LONG_WAIT && (isSame || (await breaker.acceptedSince(slowedAt)));
    if (!isSame) slowedAt = time.now();
    const reason = withWait(withStatus(said), retryAfter);
    if (passes) await breaker.slowDown(wait);
    else await breaker.trip(`http-${said.httpStatus ?? 0}`, reason, wait);
  };
}

function withWait(reason: string, asked = 0): string {
  return asked === 0 ? reason : clauses(reason, `the API asks to wait ${Math.ceil(asked / 1000)} s`);
}

/** A 2xx that does not say whether the order was created. */
export function isEmptySuccess({ said }: Extract<Seen, { kind: 'unknown' }>): boolean {
  return said.httpStatus !== undefined && said.httpStatus >= 200 && said.httpStatus < 300 && said.code !== 'no-answer';
}
