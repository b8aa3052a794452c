import { debug, error, info, warn } from '../event.ts';

/** `notice` is what the notice is about: attention, paused or silent. */
type Named = { receiver: string; notice: string; kind: string; batch?: string; source?: string };

/** A receiver accepted a notice. */
export const noticeSent = debug<Named & { attempt: number }>('notice-sent', (log, facts) =>
  log.meter?.notice(facts.receiver, 'sent'),
);

/** A receiver did not accept a notice. */
export const noticeDelayed = info<Named & { attempt: number; reason: string }>(
  'notice-delayed',
  (log, facts) => log.meter?.notice(facts.receiver, 'delayed'),
);

/** The last attempt for a notice failed. */
export const noticeLost = error<Named & { attempt: number; reason: string }>(
  'notice-lost',
  (log, facts) => log.meter?.notice(facts.receiver, 'lost'),
);

/** The state that a notice reports could not be read. */
export const noticeTrouble = warn<{ reason: string }>('notice-trouble');
