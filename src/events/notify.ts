import type { Log } from '../log/log.ts';

type Named = { receiver: string; event: string; kind: string; batch?: string; source?: string };

/** A receiver took a notice. */
export function noticeSent(log: Log, facts: Named & { attempt: number }): void {
  log.debug(facts, 'notice sent');
}

/** It did not take it; it is tried again. */
export function noticeDelayed(log: Log, facts: Named & { attempt: number; reason: string }): void {
  log.info(facts, 'notice not taken, tried again');
}

/** It never did, or there is no time left. */
export function noticeLost(log: Log, facts: Named & { attempt: number; reason: string }): void {
  log.error(facts, 'notice could not be sent');
}

/** Too many wait for a receiver: the oldest is given up. */
export function noticeDropped(log: Log, facts: Named): void {
  log.error(facts, 'too many notices wait, the oldest is dropped');
}

/** What is to be told could not be found out; looked at again. */
export function noticeTrouble(log: Log, facts: { reason: string }): void {
  log.warn(facts, 'trouble with notices; looked at again');
}
