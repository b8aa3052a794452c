import type { FileWait } from '../order/file-wait.ts';
import type { Answer, PauseCause } from './pause-cause.ts';

/** Why a list could not be read, and since when none could, in ledger time in milliseconds. */
export type ListFailure = Answer & { since: number };

/** What an order without an outcome waits for, each code with its facts. */
export type WaitFacts = {
  /** A decision about an order that ended with these words. */
  person: { says?: string };
  /** Its batch is held. */
  release: FileWait;
  /** None is running, none with this role, or none sends a heartbeat. */
  daemon: { lacks: 'all' | 'intake' | 'delivery' | 'heartbeat' };
  /** The ledger reads the API's list before anything is sent. */
  'first-list': PauseCause;
  /** Delivery is paused. */
  pause: PauseCause;
  /** The API asked every order to wait. */
  'slow-down': object;
  /** A connection to Redis that lasts. */
  redis: object;
  /** Its next attempt is due later; how the last one ended. */
  retry: { says?: string };
  'rate-limit': object;
  /** A free call. */
  turn: object;
  /** The file of its batch cannot be read on. */
  file: { code: string; reason: string };
  /** The attempt has begun, and it is not known whether it was sent. */
  answer: { attempt: number };
  /** The API's list after an unclear answer: its words; the attempt, whose process is gone; or why no list can be read. */
  list: { says?: string } | { attempt: number } | { failure: ListFailure };
  /** The API's list before the orders of a new file. */
  'file-list': { failure?: ListFailure };
  /** Another file's order that it repeats. */
  order: object;
  /** More orders wait than were examined. */
  unexamined: object;
};

export type WaitKind = keyof WaitFacts;

export type WaitCause = {
  [Code in WaitKind]: { code: Code; facts: WaitFacts[Code] };
}[WaitKind];
