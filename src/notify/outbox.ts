import { type Backoff, growingWait } from '../core/backoff/backoff.ts';
import type { Clock } from '../core/clock.ts';
import { toError } from '../core/errors.ts';
import { counted } from '../core/format.ts';
import { noticeDelayed, noticeDropped, noticeLost, noticeSent } from '../log/events/notify.ts';
import type { Log } from '../log/log.ts';
import { onOneLine } from '../order/text.ts';
import type { Notice } from './notice.ts';

/** Sends notices to one receiver, one after another, in the background. Disposing waits a few seconds for them. */
export type Outbox = AsyncDisposable & {
  put(notice: Notice): void;
  /** Undefined while the receiver accepts its notices. */
  trouble(): ReceiverTrouble | undefined;
};

/** A receiver that did not accept its last notice. `waiting` and `lost`: numbers of notices; `at`: Redis time in milliseconds. */
export type ReceiverTrouble = {
  receiver: string;
  waiting: number;
  lost: number;
  error: string;
  at: number;
};

/** What to do about a receiver that does not accept its notices. */
export const NOTICES_REMEDY =
  'Check the receiver and notify in the configuration. po-sync tries each notice ten times.';

/** `webhook hooks.example.com did not accept its last notice: no answer; 2 notices wait, 1 was lost`. */
export function noticesText({ receiver, waiting, lost, error }: ReceiverTrouble): string {
  const wait =
    waiting === 0 ? [] : [`${counted(waiting, 'notice')} ${waiting === 1 ? 'waits' : 'wait'}`];
  const gone = lost === 0 ? [] : [`${lost} ${lost === 1 ? 'was' : 'were'} lost`];
  return `${receiver} did not accept its last notice: ${[error, [...wait, ...gone].join(', ')].join('; ')}`;
}

type OutboxDeps = {
  /** The receiver's name in the log, without secrets. */
  receiver: string;
  /** Throws if the receiver does not accept the notice. */
  send: (notice: Notice, signal: AbortSignal) => Promise<void>;
  clock: Clock;
  log: Log;
  /** Redis time. */
  now: () => number;
  retry?: Backoff & { attempts: number };
};

/** Maximum number of waiting notices; older ones are dropped. */
const MOST = 100;
/** About nine minutes in total. */
const RETRY = { attempts: 10, initial: 1_000, max: 300_000 };
/** Time limit for sending the remaining notices on disposal, in milliseconds. */
const DRAIN = 3_000;

/** Opens the outbox of one receiver; its failures do not affect others. */
export function openOutbox({ receiver, send, clock, log, now, retry = RETRY }: OutboxDeps): Outbox {
  const waiting: Notice[] = [];
  const closing = new AbortController();
  const over = new AbortController();
  let running: Promise<void> | undefined;
  const tally = createTally({ receiver, log, now });

  function put(notice: Notice): void {
    waiting.push(notice);
    const oldest = waiting.length > MOST ? waiting.shift() : undefined;
    if (oldest) tally.dropped(oldest);
    running ??= sendAll();
  }

  async function sendAll(): Promise<void> {
    for (let next = waiting.shift(); next; next = waiting.shift()) await deliver(next);
    running = undefined;
  }

  async function deliver(notice: Notice): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt === retry.attempts || closing.signal.aborted;
      const reason = await failureOf(notice);
      tally.attempted(notice, { attempt, isLast, reason });
      if (reason === undefined || isLast) return;
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
    trouble() {
      const found = tally.trouble();
      return (
        found && { receiver, waiting: waiting.length + (running === undefined ? 0 : 1), ...found }
      );
    },
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

/** Logs and counts what the receiver did not accept since it last accepted a notice. */
function createTally({ receiver, log, now }: Pick<OutboxDeps, 'receiver' | 'log' | 'now'>) {
  let lost = 0;
  let failed: Pick<ReceiverTrouble, 'error' | 'at'> | undefined;

  type Attempt = { attempt: number; isLast: boolean; reason: string | undefined };
  function attempted(notice: Notice, { attempt, isLast, reason }: Attempt): void {
    const facts = { receiver, ...named(notice), attempt };
    failed = reason === undefined ? undefined : { error: shortened(reason), at: now() };
    if (reason === undefined) {
      lost = 0;
      noticeSent(log, facts);
    } else if (isLast) {
      lost += 1;
      noticeLost(log, { ...facts, reason });
    } else noticeDelayed(log, { ...facts, reason });
  }

  return {
    attempted,
    dropped(notice: Notice): void {
      lost += 1;
      noticeDropped(log, { receiver, ...named(notice) });
    },
    trouble: () => failed && { lost, ...failed },
  };
}

/** Maximum characters of an error that is shown. */
const LONGEST = 200;

/** One line of bounded length. The path and query of an address may be a secret. */
function shortened(reason: string): string {
  const line = onOneLine(reason).replace(
    /\b(https?:\/\/)(?:[^\s/@]*@)?([^\s/?#'"]*)[^\s'"]*/gi,
    '$1$2',
  );
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}

function named({ event, kind, batch, source }: Notice) {
  return {
    notice: event,
    kind,
    ...(batch === undefined ? {} : { batch }),
    ...(source === undefined ? {} : { source }),
  };
}
