import { toError } from '../core/errors.ts';
import { noticeDelayed, noticeLost, noticeSent } from '../log/events/notify.ts';
import type { Log } from '../log/log.ts';
import { onOneLine } from '../order/text.ts';
import { type Mailbox, openMailbox } from '../queue/mailbox.ts';
import type { Store } from '../redis/store.ts';
import { cut, type Notice, type NoticeEvent } from './notice.ts';

/** How a notice reaches a receiver. `receiver`: its name in the log, without secrets; `identity` may contain them. */
export type Way = {
  receiver: string;
  identity: string;
  /** Throws if the receiver does not accept the notice. */
  send(notice: Notice, signal: AbortSignal): Promise<void>;
};

/** A receiver of `notify`, and the events that are sent to it. */
export type OpenReceiver = { on: readonly NoticeEvent[]; way: Way; outbox: Mailbox<Notice> };

type OutboxDeps = {
  way: Way;
  store: Pick<Store, 'plain' | 'keys'>;
  log: Log;
  onTrouble: (error: Error) => void;
  retry?: { attempts: number; initial: number };
};

/** Sends notices to one receiver, one after another, in the background; its failures do not affect others. */
export function openOutbox({ way, store, log, onTrouble, retry }: OutboxDeps): Mailbox<Notice> {
  const { receiver, identity, send } = way;
  return openMailbox<Notice>({
    store,
    receiver: identity,
    deliver: (notice, signal) =>
      send(notice, signal).catch((error: unknown) => {
        throw new Error(shortened(toError(error).message));
      }),
    onAttempt({ event, kind, batch, source }, { attempt, isLast, error }) {
      const about = {
        ...(batch !== undefined && { batch }),
        ...(source !== undefined && { source }),
      };
      const facts = { receiver, notice: event, kind, ...about, attempt };
      if (error === undefined) return noticeSent(log, facts);
      (isLast ? noticeLost : noticeDelayed)(log, { ...facts, reason: error.message });
    },
    onTrouble,
    ...(retry && { retry }),
  });
}

/** Maximum characters of an error that is shown. */
const LONGEST = 200;

/** One line of bounded length. The path and query of an address may be a secret. */
function shortened(reason: string): string {
  const line = onOneLine(reason).replace(
    /\b(https?:\/\/)(?:[^\s/@]*@)?([^\s/?#'"]*)[^\s'"]*/gi,
    '$1$2',
  );
  return cut(line, LONGEST);
}
