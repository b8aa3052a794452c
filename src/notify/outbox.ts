import { type Backoff, growingWait } from '../core/backoff/backoff.ts';
import type { Clock } from '../core/clock.ts';
import { toError } from '../core/errors.ts';
import { noticeDelayed, noticeDropped, noticeLost, noticeSent } from '../log/events/notify.ts';
import type { Log } from '../log/log.ts';
import type { Notice } from './notice.ts';

/** Sends notices to one receiver, one after another, in the background. Disposing waits a few seconds for them. */
export type Outbox = AsyncDisposable & { put(notice: Notice): void };

type OutboxDeps = {
  /** The receiver's name in the log, without secrets. */
  receiver: string;
  /** Throws if the receiver does not accept the notice. */
  send: (notice: Notice, signal: AbortSignal) => Promise<void>;
  clock: Clock;
  log: Log;
  retry?: Backoff & { attempts: number };
};

/** Maximum number of waiting notices; older ones are dropped. */
const MOST = 100;
/** About nine minutes in total. */
const RETRY = { attempts: 10, initial: 1_000, max: 300_000 };
/** Time limit for sending the remaining notices on disposal, in milliseconds. */
const DRAIN = 3_000;

/** Opens the outbox of one receiver; its failures do not affect others. */
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

  /** Why the receiver did not accept the notice; undefined if it did. */
  async function failureOf(notice: Notice): Promise<string | undefined> {
    try {
      if (over.signal.aborted) return 'po-sync is stopping';
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
      await Promise.race([running, clock.sleep(DRAIN, done.signal)]);
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
