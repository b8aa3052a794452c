import type { Log } from '../log.ts';

/** `notice` is what the notice is about: attention, paused or silent. */
type Named = { receiver: string; notice: string; kind: string; batch?: string; source?: string };

/** A receiver accepted a notice. */
export function noticeSent(log: Log, facts: Named & { attempt: number }): void {
  log.meter?.notice(facts.receiver, 'sent');
  log.debug({ event: 'notice-sent', ...facts }, 'notice sent');
}

/** A receiver did not accept a notice. */
export function noticeDelayed(log: Log, facts: Named & { attempt: number; reason: string }): void {
  log.meter?.notice(facts.receiver, 'delayed');
  log.info({ event: 'notice-delayed', ...facts }, 'notice not accepted, will retry');
}

/** The last attempt for a notice failed. */
export function noticeLost(log: Log, facts: Named & { attempt: number; reason: string }): void {
  log.meter?.notice(facts.receiver, 'lost');
  log.error({ event: 'notice-lost', ...facts }, 'notice could not be sent');
}

/** The state that a notice reports could not be read. */
export function noticeTrouble(log: Log, facts: { reason: string }): void {
  log.warn({ event: 'notice-trouble', ...facts }, 'notices could not be prepared, will retry');
}
