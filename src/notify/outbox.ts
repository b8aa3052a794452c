import { toError } from '../core/errors.ts';
import { noticeDelayed, noticeLost, noticeSent } from '../log/events/notify.ts';
import type { Log } from '../log/log.ts';
import { onOneLine } from '../order/text.ts';
import { type Attempt, openMailbox } from '../queue/mailbox.ts';
import type { Store } from '../redis/store.ts';
import type { Notice, NoticeEvent } from './notice.ts';

/** Sends notices to one receiver, one after another, in the background. Disposing waits a few seconds for them. */
export type Outbox = AsyncDisposable & {
  put(id: string, notice: Notice): Promise<void>;
};

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
