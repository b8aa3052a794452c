import { type Backoff, growingWait } from '../core/backoff.ts';
import type { Clock } from '../core/clock.ts';
import { toError } from '../core/errors.ts';
import { noticeDelayed, noticeDropped, noticeLost, noticeSent } from '../events/notify.ts';
import type { Log } from '../log/log.ts';
import type { Notice } from './notice.ts';

/** Sends notices to one receiver, one after another, beside everything else. Disposing gives it a last short while. */
export type Outbox = AsyncDisposable & { put(notice: Notice): void };

type OutboxDeps = {
  /** Whom it goes to, as the log may say it. */
  receiver: string;
  /** Throws when the receiver did not take it. */
  send: (notice: Notice, signal: AbortSignal) => Promise<void>;
  clock: Clock;
  log: Log;
  retry?: Backoff & { attempts: number };
};

/** More waiting notices than these are no news any more. */
const MOST = 100;
/** About nine minutes in all. */
const RETRY = { attempts: 10, initial: 1_000, max: 300_000 };
/** For what is left at the end. */
const LAST_WHILE = 3_000;

/** Opens the way to one receiver; its troubles touch no other. */
export function openOutbox({ receiver, send, clock, log, retry = RETRY }: OutboxDeps): Outbox {
  const waiting: Notice[] = [];
  const closing = new AbortController();
  const over = new AbortController();
  let running: Promise<void> | undefined;

  function put(notice: Notice): void {
    waiting.push(notice);
    const oldest = waiting.length > MOST ? waiting.shift() : undefined;
    if (oldest) noticeDropped(log, { receiver, ...named(oldest) });
    running ??= sendAll();
  }

  async function sendAll(): Promise<void> {
    for (let next = waiting.shift(); next; next = waiting.shift()) await deliver(next);
    running = undefined;
  }

  async function deliver(notice: Notice): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const last = closing.signal.aborted;
      const reason = await failureOf(notice);
      const facts = { receiver, ...named(notice), attempt };
      if (reason === undefined) return noticeSent(log, facts);
      if (attempt === retry.attempts || last) return noticeLost(log, { ...facts, reason });
      noticeDelayed(log, { ...facts, reason });
      await clock.sleep(growingWait(attempt, retry), closing.signal);
    }
  }

  /** Why the receiver did not take it; undefined when it did. */
  async function failureOf(notice: Notice): Promise<string | undefined> {
    try {
      if (over.signal.aborted) return 'there was no time left';
      await send(notice, over.signal);
      return undefined;
    } catch (error) {
      return toError(error).message;
    }
  }

  return {
    put,
    async [Symbol.asyncDispose]() {
      closing.abort();
      const done = new AbortController();
      await Promise.race([running, clock.sleep(LAST_WHILE, done.signal)]);
      done.abort();
      over.abort();
      await running;
    },
  };
}

function named({ event, kind, batch, source }: Notice) {
  return {
    notice: event,
    kind,
    ...(batch === undefined ? {} : { batch }),
    ...(source === undefined ? {} : { source }),
  };
}
