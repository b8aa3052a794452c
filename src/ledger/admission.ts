import { type Compact, type Entry, UNSHOWN } from './entry.ts';

/** What the ledger holds of a number. */
export type Known = { kind: 'nothing' } | { kind: 'open'; entry: Entry } | { kind: 'accepted'; compact: Compact };

/**
 * An order as a file brings it. `again`: a person sends it on purpose, by a fix file. `fromExport`: nobody sends it on
 * purpose, it is shown because it is still there.
 */
export type Candidate = { digest: string; batch: string; ordinal: number; again: boolean; fromExport: boolean };

/** What admission makes of it (product.md, "What becomes of an order"). */
export type Admission =
  /** New, or mended: to be sent. `before` is the dead letter it replaces. */
  | { kind: 'queue'; before: Entry | undefined }
  /** This very order of this very batch, met again after a crash. */
  | { kind: 'mine' }
  /** `batchNo` names the batch that brought it first; 0 when it was at the API before us. */
  | { kind: 'duplicate'; batchNo: number }
  | { kind: 'conflict'; batchNo: number; underWay: boolean }
  /** A dead letter with the same content: the same answer would come again. */
  | { kind: 'repeat'; entry: Entry };

/** Decides about an order that a file brings. Pure. */
export function admit(known: Known, candidate: Candidate): Admission {
  switch (known.kind) {
    case 'nothing':
      return { kind: 'queue', before: undefined };
    case 'accepted':
      return known.compact.digest === candidate.digest || known.compact.digest === UNSHOWN
        ? { kind: 'duplicate', batchNo: known.compact.batchNo }
        : { kind: 'conflict', batchNo: known.compact.batchNo, underWay: false };
    case 'open':
      return againstOpen(known.entry, candidate);
  }
}

function againstOpen(entry: Entry, candidate: Candidate): Admission {
  if (entry.batch === candidate.batch && entry.ordinal === candidate.ordinal) return { kind: 'mine' };
  const same = entry.digest === candidate.digest;
  switch (entry.state) {
    case 'queued':
    case 'sending':
    case 'retry':
    case 'unknown':
      return same
        ? { kind: 'duplicate', batchNo: entry.batchNo }
        : { kind: 'conflict', batchNo: entry.batchNo, underWay: true };
    case 'inDoubt':
      return same ? { kind: 'repeat', entry } : { kind: 'conflict', batchNo: entry.batchNo, underWay: true };
    case 'failed':
      return same && candidate.fromExport ? { kind: 'repeat', entry } : { kind: 'queue', before: entry };
    case 'refused':
    case 'conflict':
      return same && !candidate.again ? { kind: 'repeat', entry } : { kind: 'queue', before: entry };
  }
}
