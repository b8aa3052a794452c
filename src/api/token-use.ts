import { growingWait } from '../core/backoff/backoff.ts';
import type { StoredToken } from './token-secrecy.ts';

/**
 * What a 401 means for the token that it refused. `other`: another one is in use. `replaced`: the next call gets another one;
 * `wasAccepted`: this one worked before. `fresh`: the API may not know it yet; it is kept, and tried again after `wait`.
 */
export type Refusal =
  | { kind: 'other' }
  | { kind: 'replaced'; wasAccepted: boolean }
  | { kind: 'fresh'; wait: number; age: number };

/** What a refusal of kind `fresh` means, before the words of the API. */
export const NOT_YET = 'the API does not accept fresh tokens yet';

/** Milliseconds. Clocks that differ, or servers that learn of a token late, refuse a younger one although it is right. */
const YOUNG = 30_000;
/** How long a young token is kept that was accepted before, and may have been revoked since. Milliseconds. */
const FLICKER = 1_000;
/** Between two tries of a fresh token, in milliseconds. */
const TRIES = { initial: 250, max: 5_000 };

/**
 * Which token a process uses. A token that replaces one in use is tried by one call at a time, and takes its place once it was
 * accepted. All times are ledger time in milliseconds.
 */
export function createTokenUse() {
  let current: StoredToken | undefined;
  let next: (StoredToken & { tries: number; nextTry: number }) | undefined;
  let wasAccepted = false;
  /** Since `current` was accepted last; calls that were under way together count once. */
  let refusals = { count: 0, first: 0, last: 0 };
  /** Tokens in a row that were never accepted: each is kept twice as long as the one before. */
  let rejected = 0;
  let isDoubtful = false;

  /** Takes the replacement, if there is one, the token that was used until now being over. */
  function moveOn(): void {
    current = next;
    next = undefined;
    wasAccepted = false;
    refusals = { count: 0, first: 0, last: 0 };
  }

  /** How long a token that was never accepted is kept. */
  function patience({ askedAt, hardAt }: StoredToken): number {
    return Math.min(YOUNG * 2 ** Math.min(rejected, 10), (hardAt - askedAt) / 2);
  }

  function isOver(token: StoredToken, now: number): boolean {
    if (!wasAccepted) return now - token.askedAt >= patience(token);
    const isOld = now - token.askedAt >= Math.min(YOUNG, (token.hardAt - token.askedAt) / 4);
    return isOld || now - refusals.first >= FLICKER;
  }

  return {
    /** The token for a call now; undefined: one is needed first. */
    pick(now: number): StoredToken | undefined {
      if (current === undefined || now >= current.hardAt) moveOn();
      if (current && now >= current.hardAt) moveOn();
      if (next === undefined || !wasAccepted || now < next.nextTry) return current;
      next.tries += 1;
      next.nextTry = now + growingWait(next.tries, TRIES);
      return next;
    },
    /** Whether a replacement should be had soon. */
    isEnding: (now: number): boolean =>
      current !== undefined && next === undefined && now >= current.softAt,
    /** A token was granted, or found in Redis. */
    offer(token: StoredToken, now: number): void {
      if ([current, next].some((one) => one?.fingerprint === token.fingerprint)) return;
      if (current === undefined || now >= current.hardAt) {
        next = undefined;
        moveOn();
        current = token;
      } else if (token.value === current.value) current = token;
      else next = { ...token, tries: 0, nextTry: now };
    },
    /** The API answered a call with the token of this grant. */
    accepted(fingerprint: string): void {
      if (fingerprint === next?.fingerprint) moveOn();
      if (fingerprint !== current?.fingerprint) return;
      wasAccepted = true;
      isDoubtful = false;
      rejected = 0;
      refusals = { count: 0, first: 0, last: 0 };
    },
    /** The API refused the token in a call that began then. `isGone`: nobody else should use it any more, either. */
    refused(fingerprint: string, began: number, now: number, isGone: boolean): Refusal {
      if (current === undefined || fingerprint !== current.fingerprint) return { kind: 'other' };
      isDoubtful = true;
      if (refusals.count === 0) refusals.first = now;
      if (refusals.count === 0 || began >= refusals.last)
        refusals = { ...refusals, count: refusals.count + 1, last: now };
      if (isGone || isOver(current, now)) {
        const refusal = { kind: 'replaced', wasAccepted } as const;
        if (!wasAccepted) rejected += 1;
        moveOn();
        return refusal;
      }
      const wait = growingWait(refusals.count, TRIES);
      return { kind: 'fresh', wait, age: now - current.askedAt };
    },
    isCurrent: (fingerprint: string, now: number): boolean =>
      [current, next].some((one) => one?.fingerprint === fingerprint && now < one.hardAt),
    /** Whether a token was refused, and none accepted since. */
    isDoubtful: () => isDoubtful,
    /** Whether the API never accepted the token of this grant, as far as known here. */
    isUntried: (fingerprint: string): boolean =>
      fingerprint !== current?.fingerprint || !wasAccepted,
  };
}
