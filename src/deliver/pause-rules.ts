import { type Busy, isEmptySuccess, type Seen, withStatus, withWait } from '../api/classify.ts';
import type { BearerToken, TokenSource } from '../api/token.ts';
import { NOT_YET } from '../api/token-use.ts';
import { clauses } from '../core/format.ts';
import { isNetworkCode } from '../core/network-error.ts';
import { listPauseEnd, waitsForList } from '../ledger/list-pauses.ts';
import type { Policy } from '../ledger/state-machine/step.ts';
import type { RedisTime } from '../redis/time.ts';
import { LONG_WAIT, type Pause } from './breaker-view.ts';
import { type CircuitBreaker, OPERATOR, type Pass } from './circuit-breaker.ts';

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
        return unauthorized(token.fingerprint, withStatus(seen.said), began);
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
  async function unauthorized(fingerprint: string, reason: string, began: number): Promise<void> {
    const refusal = await tokens.refused(fingerprint, began);
    switch (refusal.kind) {
      case 'other':
        return;
      case 'replaced':
        if (!refusal.wasAccepted) await breaker.trip('token-not-accepted', reason);
        return;
      case 'fresh': {
        const { wait, age } = refusal;
        if (age + wait > LONG_WAIT)
          await breaker.trip('token-not-accepted', clauses(NOT_YET, reason), wait);
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
      const { code, reason } = causeOf(seen);
      const asked = Math.max(0, askedUntil - now);
      await breaker.trip(code, withWait(reason, asked), Math.max(firstTry, asked));
    },
    clear(): void {
      failures = 0;
      askedUntil = 0;
    },
  };
}

/** Why delivery is paused after so many failures, by the last of them. */
function causeOf(seen: Failure): { code: string; reason: string } {
  const { httpStatus = 0 } = seen.said;
  const message = withStatus(seen.said);
  if (seen.kind === 'closed' || seen.kind === 'busy')
    return { code: `http-${httpStatus}`, reason: message };
  if (seen.kind === 'unsent' && isNetworkCode(seen.said.code))
    return { code: seen.said.code, reason: message };
  if (seen.kind === 'unsent' || !isEmptySuccess(seen)) return { code: 'api-down', reason: message };
  return {
    code: 'answers-unclear',
    reason: clauses(message, 'the list will show whether the orders were created'),
  };
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

/** What a pause was for. */
type Cause = Pick<Pause, 'code'>;

/** What a person must do about a pause that every trial would otherwise only repeat; undefined where nothing is to do. */
export function pauseAdvice({ code }: Cause): string | undefined {
  if (code === 'token-refused')
    return 'check the credentials, scope, audience and clientAuth (po-sync doctor says which), and restart the daemon after a change of them';
  if (code === 'token-not-accepted')
    return 'check that authUrl and baseUrl belong to the same environment, and that their clocks agree';
  if (code === 'answers-unclear') return 'check that baseUrl leads to the API';
  if (code === 'http-403') return 'check what this client may do at the API';
  if (/^http-3..$/.test(code)) return 'set baseUrl to the address of the API: this one redirects';
  return /^http-(404|405)$/.test(code) ? 'check baseUrl' : undefined;
}

/** Whether it does not end before a person acts. */
export const needsPerson = (pause: Cause): boolean =>
  endOf(pause) !== 'automatic' || pauseAdvice(pause) !== undefined;

/** What ends a pause and what a person does about it, in a sentence. */
export function pauseRemedy(pause: Cause): string {
  const { code } = pause;
  const end = endOf(pause);
  if (end === 'operator') return 'Run po-sync resume when delivery may continue.';
  if (end === 'list') return `It ${listPauseEnd(code)}.`;
  const advice = pauseAdvice(pause);
  const begin =
    advice === undefined ? 'If it lasts, run po-sync doctor; it' : `${upperFirst(advice)}; then it`;
  return `${begin} ends automatically when the API accepts an order.`;
}

function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
