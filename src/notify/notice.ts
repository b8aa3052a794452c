import { iso } from '../core/format.ts';
import { onOneLine } from '../order/hidden-characters.ts';
import type { OutcomeCounts } from '../order/outcome.ts';

/** What a person or a program outside is told. Neither order content nor a secret is ever part of it. */
export type Notice = {
  version: 1;
  event: NoticeEvent;
  kind: 'finished' | 'held' | 'unreadable' | 'paused' | 'resumed' | 'silent' | 'heard';
  environment: string;
  /** ISO 8601, UTC. */
  at: string;
  /** The same in one English sentence. */
  text: string;
  source?: string;
  batch?: string;
  /** The folder of the batch's report. */
  report?: string;
  /** Orders of the batch in all. */
  orders?: number;
  needPerson?: number;
  counts?: OutcomeCounts;
  reason?: string;
  /** ISO 8601, UTC: when the pause or the silence began. */
  since?: string;
};

/** As in `notify[].on` of the configuration. */
export type NoticeEvent = 'attention' | 'paused' | 'silent';

type KnownInvalid = { environment: string; at: number };
type BatchFacts = KnownInvalid & { batch: string; source: string; report: string };

/** A batch has ended and some of its orders need a person. */
export function batchNeedsPerson(
  facts: BatchFacts & { orders: number; needPerson: number; counts: OutcomeCounts },
): Notice {
  const { batch, orders, needPerson } = facts;
  const text = `${batch}: ${needPerson} of ${orders} orders ${needPerson === 1 ? 'needs' : 'need'} a person.`;
  return noticeOf('attention', 'finished', text, facts);
}

/** A file cannot be read as orders; nothing of it was sent. */
export function fileUnreadable(facts: BatchFacts): Notice {
  return noticeOf('attention', 'unreadable', `${facts.batch}: the file is unreadable, nothing of it was sent.`, facts);
}

/** Nothing more of a batch is sent until a person says so. `since` is milliseconds. */
export function batchIsHeld(facts: BatchFacts & { counts: OutcomeCounts; reason: string; since: number }): Notice {
  const reason = withoutContent(facts.reason);
  return noticeOf('attention', 'held', `${facts.batch} is held: ${reason}`, { ...facts, reason });
}

/** Delivery of the environment pauses. */
export function deliveryPauses(facts: KnownInvalid & { reason: string; since: number }): Notice {
  return noticeOf('paused', 'paused', `Delivery to ${facts.environment} pauses: ${facts.reason}`, facts);
}

/** And goes on. */
export function deliveryGoesOn(facts: KnownInvalid & { since: number }): Notice {
  return noticeOf('paused', 'resumed', `Delivery to ${facts.environment} goes on.`, facts);
}

/** Nothing came from a source for longer than expected. */
export function sourceSilent(facts: KnownInvalid & { source: string; since: number }): Notice {
  const text = `Nothing came from source ${facts.source} since ${iso(facts.since)}, longer than expected.`;
  return noticeOf('silent', 'silent', text, facts);
}

/** Something came again. */
export function sourceHeard(facts: KnownInvalid & { source: string; since: number }): Notice {
  const text = `Something came from source ${facts.source} again, after silence since ${iso(facts.since)}.`;
  return noticeOf('silent', 'heard', text, facts);
}

type Facts = KnownInvalid & Omit<Partial<Notice>, 'at' | 'since'> & { since?: number };

function noticeOf(event: NoticeEvent, kind: Notice['kind'], text: string, { at, since, reason, ...facts }: Facts) {
  return {
    version: 1,
    event,
    kind,
    ...facts,
    at: iso(at),
    text: shown(text),
    ...(reason === undefined ? {} : { reason: shown(reason) }),
    ...(since === undefined ? {} : { since: iso(since) }),
  } satisfies Notice;
}

/** Longest text that another system is handed. */
const LONGEST = 500;

/** One line of bounded length. */
function shown(text: string): string {
  const line = onOneLine(text);
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}

/** The API's own words, after the colon, may name orders and articles: what is quoted or holds a digit is left out. */
function withoutContent(reason: string): string {
  const [ours = '', ...theirs] = reason.split(': ');
  const plain = theirs
    .join(': ')
    .replace(/"[^"]*"|'[^']*'/g, '…')
    .replace(/\S*\d\S*/g, '…');
  return plain === '' ? ours : `${ours}: ${plain}`;
}
