import { toError } from '../core/errors.ts';
import { counted } from '../core/format.ts';
import { noticeDelayed, noticeLost, noticeSent } from '../log/events/notify.ts';
import type { Log } from '../log/log.ts';
import { onOneLine } from '../order/text.ts';
import { type Attempt, openMailbox } from '../queue/mailbox.ts';
import type { Store } from '../redis/store.ts';
import type { Notice, NoticeEvent } from './notice.ts';

/** Sends notices to one receiver, one after another, in the background. Disposing waits a few seconds for them. */
export type Outbox = AsyncDisposable & {
  put(id: string, notice: Notice): Promise<void>;
  /** Undefined while the receiver accepts its notices. */
  trouble(): Promise<ReceiverTrouble | undefined>;
};

/** A receiver that did not accept its last notice. `waiting` and `lost`: numbers of notices; `at`: milliseconds of this host's clock. */
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

/** How a notice reaches a receiver. `receiver`: its name in the log, without secrets; `identity` may contain them. */
export type Way = {
  receiver: string;
  identity: string;
  /** Throws if the receiver does not accept the notice. */
  send(notice: Notice, signal: AbortSignal): Promise<void>;
};

/** A receiver of `notify`, and the events that are sent to it. */
export type OpenReceiver = { on: readonly NoticeEvent[]; way: Way; outbox: Outbox };

type OutboxDeps = {
  way: Way;
  store: Pick<Store, 'plain' | 'keys'>;
  log: Log;
  onTrouble: (error: Error) => void;
  retry?: { attempts: number; initial: number };
};

/** Opens the outbox of one receiver; its failures do not affect others. */
export function openOutbox({ way, store, log, onTrouble, retry }: OutboxDeps): Outbox {
  const { receiver, identity, send } = way;
  const mailbox = openMailbox<Notice>({
    store,
    receiver: identity,
    deliver: (notice, signal) =>
      send(notice, signal).catch((error: unknown) => {
        throw new Error(shortened(toError(error).message));
      }),
    onAttempt: (notice, attempt) => logAttempt(log, { receiver, ...named(notice) }, attempt),
    onTrouble,
    ...(retry && { retry }),
  });
  return {
    put: mailbox.put,
    async trouble() {
      const found = await mailbox.backlog();
      return found && { receiver, ...found };
    },
    [Symbol.asyncDispose]: () => mailbox[Symbol.asyncDispose](),
  };
}

function logAttempt(
  log: Log,
  facts: Omit<Parameters<typeof noticeSent>[1], 'attempt'>,
  { attempt, isLast, error }: Attempt,
): void {
  const reason = error?.message ?? '';
  if (error === undefined) noticeSent(log, { ...facts, attempt });
  else if (isLast) noticeLost(log, { ...facts, attempt, reason });
  else noticeDelayed(log, { ...facts, attempt, reason });
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
