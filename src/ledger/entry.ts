import type { Order } from '../order/order.ts';
import type { Place } from '../order/place.ts';

/** States of an order that is not settled yet, then those of an order that waits for a person. */
export type EntryState = 'queued' | 'sending' | 'retry' | 'unknown' | 'conflict' | 'refused' | 'failed' | 'inDoubt';

/** What the API answered, as far as it helps a person. */
export type Answer = { httpStatus?: number; code: string; message: string; response?: string };

/** An attempt that did not end well, as `explain` tells it. */
export type PastAttempt = { attempt: number; at: number; code: string; message: string; httpStatus?: number };

/**
 * What the ledger knows of an order until it is settled, and of a dead letter until it is closed.
 * Times are milliseconds of Redis' clock.
 */
export type Entry = {
  /** Grows with each change; a change is committed only over the version it was decided on. */
  version: number;
  state: EntryState;
  order: Order;
  digest: string;
  batch: string;
  /** The batch's short number. */
  batchNo: number;
  ordinal: number;
  place: Place;
  /** The queue job that carries it. */
  job: string;
  /** The fence: counts every attempt and never falls. */
  attempt: number;
  /** The budget: attempts whose failure was worth retrying. */
  used: number;
  /** Attempts answered with a status that says nothing about orders, while the API accepted others. */
  turnedAway?: number;
  /** While sending: nothing of this attempt is on its way after this time. */
  deadline?: number;
  /** When some attempt may have reached the API last; stays until the order is settled. */
  maybeSentAt?: number;
  /** A no that counts only when the list shows that no earlier attempt came through. */
  refusal?: Answer;
  /** Lists that were good evidence and did not hold the order, and when the last of them began. */
  absences: number;
  absentAt?: number;
  firstAt?: number;
  lastAt?: number;
  /** The last answer or failure. */
  answer?: Answer;
  /** The latest attempts, oldest first. */
  history?: readonly PastAttempt[];
};

/** What stays of an accepted order. `batchNo` 0: it was there before us and was taken over from the list. */
export type Compact = { digest: string; attempts: number; at: number; batchNo: number };

/** The digest of an order that the API has with other content than ours: no order has it. */
export const OTHER = '!!!!!!!!!!!!!!!!';

/** The digest of an order that a list shows without its items: it may be any. */
export const UNSHOWN = '????????????????';

/**
 * The version of an entry after a change at `at`, Redis time. It grows with every change, and as it goes by the clock no
 * version comes twice, also when Redis comes back with an older self: whoever still holds the entry as it was meanwhile
 * is late.
 */
export function versionAfter(version: number, at: number): number {
  return Math.max(version + 1, at);
}

/** `version:json`, so that a script can compare the version without reading the rest. */
export function encodeEntry(entry: Entry): string {
  return `${entry.version}:${JSON.stringify(entry)}`;
}

/** The inverse of `encodeEntry`; the text was written by this program. */
export function decodeEntry(text: string): Entry {
  return JSON.parse(text.slice(text.indexOf(':') + 1)) as Entry;
}

/** About 30 characters, which is what a settled order costs beside its number. */
export function encodeCompact(compact: Compact): string {
  const { digest, attempts, at, batchNo } = compact;
  return `${digest}${attempts.toString(36)}.${at.toString(36)}.${batchNo.toString(36)}`;
}

/** The inverse of `encodeCompact`. */
export function decodeCompact(text: string): Compact {
  const [attempts = '', at = '', batchNo = ''] = text.slice(16).split('.');
  return {
    digest: text.slice(0, 16),
    attempts: Number.parseInt(attempts, 36),
    at: Number.parseInt(at, 36),
    batchNo: Number.parseInt(batchNo, 36),
  };
}
