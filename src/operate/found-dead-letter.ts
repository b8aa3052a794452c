import type { EntryState } from '../ledger/entry.ts';
import type { DeadLetter } from '../order/dead-letter.ts';
import type { DeadLetterKind } from '../order/outcome.ts';

/** Which dead letters are meant. */
export type DeadLetterFilter = {
  /** A batch's whole name, or how it ends. */
  batch?: string;
  kind?: DeadLetterKind;
  signature?: string;
  /** The last answer came at or after this time, milliseconds since 1970. */
  since?: number;
  order?: string;
  /** Those that are closed too. */
  all: boolean;
};

/** A dead letter with the batch that it is in. */
export type FoundDeadLetter = DeadLetter & {
  batch: string;
  source: string;
  file: string;
  /** How its order stands now, where it moves again or waits for the second time. */
  now?: EntryState;
};
