import type { LetterRef } from '../order/letter-id.ts';
import type { Item, Order } from '../order/order.ts';
import type { Outcome } from '../order/outcome.ts';
import type { Problem, Reason } from '../order/problem.ts';
import type { Place } from '../order/record.ts';

/** The states of an order that is not settled yet, then those of an order that waits for a person. */
export type EntryState =
  | 'queued'
  | 'sending'
  | 'retry'
  | 'unknown'
  | 'conflict'
  | 'refused'
  | 'failed'
  | 'inDoubt';

/** What the API answered, as far as it helps a person. */
export type Answer = { httpStatus?: number; code: string; message: string; response?: string };

/** An attempt without success, as `explain` shows it. */
export type PastAttempt = {
  attempt: number;
  at: number;
  code: string;
  message: string;
  httpStatus?: number;
};

/** Where a file has an order. */
export type Occurrence = { batch: string; batchNo: number; ordinal: number; place: Place };

/** The content that the API shows under a number; `items` where it is kept. */
export type Listed = { digest: string; items?: readonly Item[] };

/**
 * What the ledger knows about an order until it is settled, and about a dead letter until it is closed.
 * Times are ledger time in milliseconds.
 */
export type Entry = {
  /** Grows with each change. A change is committed only over the version it was decided on. */
  version: number;
  state: EntryState;
  order: Order;
  digest: string;
  batch: string;
  /** The batch's short number. */
  batchNo: number;
  ordinal: number;
  place: Place;
  /** The same order further on, mostly in other files: they share its outcome, or the first takes its place. */
  also?: readonly Occurrence[];
  /** The queue job that carries the order; empty while none does. */
  job: string;
  /** The fence: counts every attempt; falls only when an attempt is given back before its first byte. */
  attempt: number;
  /** The budget: attempts whose failure was worth retrying. */
  used: number;
  /** Attempts answered with a status that says nothing about orders, while the API accepted others. */
  turnedAway?: number;
  /** While sending: nothing of this attempt is in flight after this time. */
  deadline?: number;
  /** When an attempt may have reached the API last. Stays until the order is settled. */
  maybeSentAt?: number;
  /** When a person last had it sent anew; part of its idempotency key. */
  renewedAt?: number;
  /** The header of that key, and when the first attempt that may have reached the API with it began. */
  keyed?: { header: string; at: number };
  /** The order is in doubt, and is sent again with the same key instead of waiting for the list. */
  repeats?: true;
  /** It is sent again to show how far the list reaches: the list may hide that an earlier attempt created it. */
  isAlone?: true;
  /** The API said that it created something for this order, under another number. */
  misnamed?: true;
  /** A refusal that counts only when the list shows that no earlier attempt succeeded. */
  refusal?: Answer;
  /** Lists that were good evidence and did not show the order, and when the last of them began. */
  absences: number;
  absentAt?: number;
  /** When the first list was read that could not tell, since the last one that could. */
  askedSince?: number;
  /** Of a conflict: the other content, which the API has. */
  known?: Listed;
  /** The person who decided that it is sent again after it needed a person. */
  sentBy?: string;
  /** The dead letters that it corrects. */
  from?: readonly LetterRef[];
  firstAt?: number;
  /** When the last attempt began; of an order that waits for a person, the answer or check since which it waits. */
  lastAt?: number;
  /** The last answer or failure. */
  answer?: Answer;
  /** The latest attempts, oldest first. */
  history?: readonly PastAttempt[];
};

/**
 * What stays of an accepted order. `number`: as it was sent or listed. `batchNo` 0: it is from the API's list. `became`: a person
 * gave this order that number, under which it was accepted. `since`: po-sync created it, then or later until `at`: a complete list
 * shows it.
 */
export type Compact = {
  number: string;
  became?: string;
  digest: string;
  attempts: number;
  at: number;
  batchNo: number;
  since?: number | undefined;
};

/** The digest of content at the API that is other than ours and not known: no order has it. */
export const OTHER = '!!!!!!!!!!!!!!!!';

/** The digest of an order that a list shows without its items: it may be any. */
export const UNSHOWN = '????????????????';

/** Whether an order with this digest has the content that the API or the ledger has under its number. */
export function isSameContent(known: string, digest: string): boolean {
  return known === UNSHOWN || known === digest;
}

/**
 * The version of an entry after a change at `at`, ledger time. It grows with every change. Because it follows the clock,
 * no version occurs twice, not even after Redis was restored from an older file.
 */
export function versionAfter(version: number, at: number): number {
  return Math.max(version + 1, at);
}

/** Where files have an order in progress; its own file is the first. */
export function occurrencesOf({
  batch,
  batchNo,
  ordinal,
  place,
  also = [],
}: Entry): readonly Occurrence[] {
  return [{ batch, batchNo, ordinal, place }, ...also];
}

/** Whether nothing happened to an order since, except that other files brought it or were canceled. */
export function isAsBefore(now: Entry, before: Entry): boolean {
  const facts = (entry: Entry) => JSON.stringify({ ...entry, version: 0, also: undefined });
  return facts(now) === facts(before);
}

/** `version:json`, so that a script can compare the version without parsing the rest. */
export function encodeEntry(entry: Entry): string {
  return `${entry.version}:${JSON.stringify(entry)}`;
}

/** The inverse of `encodeEntry`; the text was written by this program. */
export function decodeEntry(text: string): Entry {
  return JSON.parse(text.slice(text.indexOf(':') + 1)) as Entry;
}

/** About 35 characters: what a settled order costs next to its key. The number is kept where it is spelled in another way. */
export function encodeCompact(compact: Compact, key: string): string {
  const { number, became, digest, attempts, at, batchNo, since } = compact;
  const took = since === undefined ? '' : Math.max(0, Math.floor(at - since)).toString(36);
  const facts = `${digest}${attempts.toString(36)}.${at.toString(36)}.${batchNo.toString(36)}.${took}`;
  if (became !== undefined) return `${facts}=>${became}`;
  return number === key ? facts : `${facts}=${number}`;
}

/** The inverse of `encodeCompact`. */
export function decodeCompact(text: string, key: string): Compact {
  const [facts = '', ...rest] = text.split('=');
  const [attempts = '', acceptedAt = '', batchNo = '', took = ''] = facts.slice(16).split('.');
  const number = rest.join('=');
  const at = Number.parseInt(acceptedAt, 36);
  return {
    ...(number.startsWith('>')
      ? { number: key, became: number.slice(1) }
      : { number: number || key }),
    digest: facts.slice(0, 16),
    attempts: Number.parseInt(attempts, 36),
    at,
    batchNo: Number.parseInt(batchNo, 36),
    ...(took === '' ? {} : { since: at - Number.parseInt(took, 36) }),
  };
}

/** What a person did with an order, for its history. `at` is ledger time in milliseconds. */
export type OperatorAction = {
  at: number;
  /** The user's name on the machine where the command ran. */
  who: string;
  what:
    | 'retried'
    | 'asked again'
    | 'confirmed'
    | 'resent'
    | 'discarded'
    | 'cancelled'
    | 'rebuilt'
    | 'corrected'
    | 'sent again unchanged';
  /** The attempt that it follows: when the order is accepted, its entry is gone, and its report has only the first outcome. */
  after?: PastAttempt;
};

/**
 * The result of an order that was not simply accepted; kept with its batch until the report is written.
 * Times are milliseconds.
 */
export type StoredResult = {
  outcome: Outcome;
  attempts: number;
  at: number;
  firstAt?: number;
  httpStatus?: number;
  response?: string;
  /** Of a conflict: the other content. */
  known?: { items: readonly Item[] };
  /** Of a conflict: the short number of the batch whose order has the other content. Its acceptance closes nothing. */
  against?: number;
  /** Of an invalid order: what people see until the report, which reads all of it from the file again. */
  failed?: { place: Place; problems: Problem[] };
  /** Of a cancelled order: nothing else in the ledger says which one it was, and its file may be gone. */
  of?: { number: string; place: Place };
} & Reason;

/** The result of an order whose dead letter is not to be corrected any more. */
export function outdatedResult(at: number): StoredResult {
  return { outcome: 'cancelled', attempts: 0, at, code: 'outdated', facts: {} };
}

/** An intent that reaches Redis later than this after it was made does not count. Milliseconds. */
export const INTENT_TRAVELS = 2_000;

/** How old an intent may be when its first byte is written, in milliseconds. A process that was suspended longer must not write. */
export const INTENT_FRESH = 2_000;

/**
 * Maximum number of intents that are durable before a call is free for them. Measured with 64 calls and 50 ms an
 * answer: a tenth gives 0.97 of the possible pace, a quarter 0.98.
 */
export function intentsAhead(concurrency: number): number {
  return Math.max(1, Math.floor(concurrency / 4));
}

/** Milliseconds from the intent until no byte of the attempt is on its way. `timeout` is that of one call. */
export function sendingSpan(timeout: number): number {
  return INTENT_TRAVELS + INTENT_FRESH + timeout;
}

/** What the ledger knows about a number. */
export type Known =
  | { kind: 'nothing' }
  | { kind: 'open'; entry: Entry }
  | { kind: 'accepted'; compact: Compact };

/** The number under which the ledger has an order, perhaps in another spelling than the one that was looked up. */
export function numberOf(known: Exclude<Known, { kind: 'nothing' }>): string {
  return known.kind === 'accepted' ? known.compact.number : known.entry.order.purchaseOrderNumber;
}

/** Whether an order is in progress or in doubt. */
export function isUnderWay(known: Known): known is Extract<Known, { kind: 'open' }> {
  if (known.kind !== 'open') return false;
  const { state } = known.entry;
  return state !== 'refused' && state !== 'failed' && state !== 'conflict';
}

/** The result of an order that a person canceled; `isDoubted`: of which an attempt may have been sent. */
export function cancelledResult(at: number, attempts = 0, isDoubted = false): StoredResult {
  const facts = isDoubted ? { isDoubted } : {};
  return { outcome: 'cancelled', attempts, at, code: 'cancelled', facts };
}

/** The result of an order that repeats an earlier order of the same file. */
export function sameFileResult(at: number): StoredResult {
  return { outcome: 'duplicate', attempts: 0, at, code: 'duplicate', facts: { from: 'here' } };
}

/** The reason of an order with this last answer. */
export function answered(answer: Answer | undefined, outcome: Outcome) {
  const { message = '', code = outcome, ...more } = answer ?? {};
  return { code, facts: { says: message }, ...more };
}
