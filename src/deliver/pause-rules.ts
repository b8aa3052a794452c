import { type Busy, isEmptySuccess, type Seen } from '../api/classify.ts';
import type { BearerToken, TokenSource } from '../api/token.ts';
import { isNetworkCode } from '../core/network-error.ts';
import {
  type Answer,
  answerOf,
  OPERATOR,
  type PauseCause,
  waitsForList,
} from '../ledger/pause-cause.ts';
import type { Policy } from '../ledger/state-machine/step.ts';
import type { RedisTime } from '../redis/time.ts';
import { pauseAdvice } from '../wording/pause.ts';
import { LONG_WAIT, type Pause } from './breaker-view.ts';
import type { CircuitBreaker, Pass } from './circuit-breaker.ts';

/** Failures in a row, of any orders, that trip the breaker; at most as many as leave every order one attempt. */
const DOWN_AFTER = 5;
/** Milliseconds. While an order was accepted so recently, one that is turned away says little about the environment. */
const RECENT = 10_000;

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
  slowDown(seen: Busy, began: number): Promise<void>;
};

/**
 * Derives the state of the environment from every attempt. One rule for all failures: while nothing succeeds, delivery slows
 * down. A success is an answer about the order; everything else counts until the breaker trips.
 */
export function createPauseRules({ tokens, slowDown, ...deps }: PauseRulesDeps) {
  const { breaker, time } = deps;
  const failures = countFailures(deps);
  const acceptedRecently = () => breaker.acceptedSince(time.now() - RECENT);

  async function note({ seen, pass, token, began }: Sign): Promise<void> {
    if (isAuthorized(seen)) tokens.accepted(token.fingerprint);
    switch (seen.kind) {
      case 'accepted':
      case 'misnamed':
        await breaker.accepted();
        return succeeded(pass);
      case 'refused':
        return succeeded(pass);
      case 'unauthorized':
        return unauthorized(token.fingerprint, answerOf(seen.said), began);
      case 'closed':
        return failures.add(seen, pass, await acceptedRecently());
      case 'busy':
        if (seen.everyone) return slowDown(seen, began);
        if (seen.counts || (seen.retryAfter ?? 0) <= LONG_WAIT || (await acceptedRecently()))
          return failures.add(seen, pass);
        return slowDown(seen, began);
      case 'unsent':
        return failures.add(seen, pass);
      case 'unknown':
        // Once the list has shown that such answers mean "created", they slow nothing down.
        if (!isEmptySuccess(seen) || !breaker.answersAreClear()) await failures.add(seen, pass);
    }
  }

  async function succeeded(pass: Pass): Promise<void> {
    failures.clear();
    if (pass === 'probe') await breaker.reset();
  }

  /** A token that worked before is worth one renewal; a fresh one is tried again, one order at a time, before it is a pause. */
  async function unauthorized(fingerprint: string, facts: Answer, began: number): Promise<void> {
    const refusal = await tokens.refused(fingerprint, began);
    switch (refusal.kind) {
      case 'other':
        return;
      case 'replaced':
        if (!refusal.wasAccepted) await breaker.trip({ code: 'token-not-accepted', facts });
        return;
      case 'fresh': {
        const { wait, age } = refusal;
        if (age + wait > LONG_WAIT)
          await breaker.trip(
            { code: 'token-not-accepted', facts: { ...facts, isYoung: true } },
            wait,
          );
        else await breaker.slowDown(wait);
      }
    }
  }

  return { note, isTryingToken: tokens.isDoubtful };
}

/** Whether the API answered as it does only to a token that it accepts. */
function isAuthorized(seen: Seen): boolean {
  return (
    ['accepted', 'misnamed', 'refused'].includes(seen.kind) ||
    (seen.kind === 'unknown' && isEmptySuccess(seen))
  );
}

type Failure = Extract<Seen, { kind: 'closed' | 'busy' | 'unsent' | 'unknown' }>;

/** Counts failures in a row, which trip the breaker for the longest wait that one of them asked for. */
function countFailures({
  breaker,
  time,
  policy,
  firstTry,
}: Omit<PauseRulesDeps, 'tokens' | 'slowDown'>) {
  const downAfter = Math.max(1, Math.min(DOWN_AFTER, policy.attempts - 1));
  let failures = 0;
  /** Until when they asked to wait, ledger time. */
  let askedUntil = 0;

  return {
    /** `othersPass`: it may be this order alone, so that it takes several in a row to trip the breaker. */
    async add(seen: Failure, pass: Pass, othersPass = true): Promise<void> {
      failures += 1;
      const now = time.now();
      // A probe begins when the wait is over, or a person ended it.
      if (pass === 'probe') askedUntil = now;
      if (seen.kind === 'busy') askedUntil = Math.max(askedUntil, now + (seen.retryAfter ?? 0));
      if (othersPass && failures < downAfter) return;
      const asked = Math.max(0, askedUntil - now);
      await breaker.trip(causeOf(seen, asked), Math.max(firstTry, asked));
    },
    clear(): void {
      failures = 0;
      askedUntil = 0;
    },
  };
}

/** Why delivery is paused after so many failures, by the last of them. */
function causeOf(seen: Failure, askedMs: number): PauseCause {
  const facts = { ...answerOf(seen.said), ...(askedMs > 0 && { askedMs }) };
  if (seen.kind === 'closed' || seen.kind === 'busy')
    return { code: `http-${seen.said.httpStatus ?? 0}`, facts };
  if (seen.kind === 'unsent' && isNetworkCode(seen.said.code))
    return { code: seen.said.code, facts };
  const isUnclear = seen.kind === 'unknown' && isEmptySuccess(seen);
  return { code: isUnclear ? 'answers-unclear' : 'api-down', facts };
}

/**
 * What ends a pause: `automatic`, an order gets through; `operator`, the command `resume`; `list`, the API's list has
 * been read and shows what it must; a person can end it with `reconcile`.
 */
export type PauseEnd = 'automatic' | 'operator' | 'list';

export function endOf({ code }: Pick<Pause, 'code'>): PauseEnd {
  if (code === OPERATOR) return 'operator';
  return waitsForList(code) ? 'list' : 'automatic';
}

/** Whether it does not end before a person acts. */
export const needsPerson = (pause: Pick<Pause, 'code'>): boolean =>
  endOf(pause) !== 'automatic' || pauseAdvice(pause.code) !== undefined;
