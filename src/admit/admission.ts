import {
  type Entry,
  isSameContent,
  type Known,
  type Listed,
  numberOf,
  type StoredResult,
} from '../ledger/entry.ts';

/** An order as a file brings it. `again`: a person sends it deliberately, in a fix file. */
export type Candidate = {
  number: string;
  digest: string;
  batch: string;
  ordinal: number;
  again: boolean;
  fromExport: boolean;
  /** Its batch was canceled. */
  cancelled?: boolean;
};

/** The result of admission for an order (docs/how-it-works.md, "What becomes of an order"). */
export type Admission =
  /** New, or corrected: it is sent. `before` is the dead letter that it replaces. */
  | { kind: 'queue'; before: Entry | undefined }
  /** The same order of the same batch, read again after a crash. */
  | { kind: 'mine' }
  /** Accepted already. `batchNo` names the batch that brought it; 0: it is from the API's list. */
  | { kind: 'duplicate'; batchNo: number }
  /** The same order is in progress: this one shares its outcome, or takes its place when it is canceled. */
  | { kind: 'follow'; entry: Entry }
  /** The API has exactly this content, and the ledger holds a conflict about the number: that ends with it. */
  | { kind: 'corrected'; entry: Entry; digest: string }
  /** It would be sent or wait for another order, but its batch was canceled. */
  | { kind: 'cancelled' }
  /** `known` is the other content, where it is known; `as`: how the number is spelled there, if in another way. */
  | { kind: 'conflict'; batchNo: number; underWay: boolean; known?: Listed; as?: string }
  /** An export shows it as it was before a person corrected it, and the correction waits for a person. */
  | { kind: 'waits'; result: StoredResult }
  /** A dead letter with the same content: sending it again would end the same way. */
  | { kind: 'repeat'; entry: Entry };

/** Decides about an order that a file brings. Pure. */
export function admit(known: Known, candidate: Candidate): Admission {
  const admission = against(known, candidate);
  const starts = admission.kind === 'queue' || admission.kind === 'follow';
  return candidate.cancelled && starts ? { kind: 'cancelled' } : admission;
}

function against(known: Known, candidate: Candidate): Admission {
  switch (known.kind) {
    case 'nothing':
      return { kind: 'queue', before: undefined };
    case 'accepted': {
      const { digest, batchNo } = known.compact;
      const as = otherSpelling(known, candidate);
      return as === undefined && isSameContent(digest, candidate.digest)
        ? { kind: 'duplicate', batchNo }
        : { kind: 'conflict', batchNo, underWay: false, ...(as !== undefined && { as }) };
    }
    case 'open':
      return againstOpen(known.entry, candidate);
  }
}

function againstOpen(entry: Entry, candidate: Candidate): Admission {
  if (entry.batch === candidate.batch && entry.ordinal === candidate.ordinal)
    return { kind: 'mine' };
  const as = otherSpelling({ kind: 'open', entry }, candidate);
  const same = as === undefined && entry.digest === candidate.digest;
  switch (entry.state) {
    case 'queued':
    case 'sending':
    case 'retry':
    case 'unknown':
      return same ? { kind: 'follow', entry } : underWay(entry, as);
    case 'inDoubt':
      return same ? { kind: 'repeat', entry } : underWay(entry, as);
    case 'failed':
      return same && candidate.fromExport
        ? { kind: 'repeat', entry }
        : { kind: 'queue', before: entry };
    case 'refused':
      return same && !candidate.again
        ? { kind: 'repeat', entry }
        : { kind: 'queue', before: entry };
    case 'conflict':
      return againstConflict(entry, candidate, { same, as });
  }
}

/** What the API is known to have is never sent again: only a person's `resend` does that. */
function againstConflict(
  entry: Entry,
  { digest }: Candidate,
  { same, as }: { same: boolean; as: string | undefined },
): Admission {
  const { known } = entry;
  if (as === undefined && known?.digest === digest) return { kind: 'corrected', entry, digest };
  if (same) return { kind: 'repeat', entry };
  return {
    kind: 'conflict',
    batchNo: 0,
    underWay: false,
    ...(known === undefined ? {} : { known }),
    ...(as !== undefined && { as }),
  };
}

function underWay({ batchNo, digest, order }: Entry, as: string | undefined): Admission {
  const known = { digest, items: order.items };
  return { kind: 'conflict', batchNo, underWay: true, known, ...(as !== undefined && { as }) };
}

/** How the ledger has the number, if that is another spelling: whether it is the same order, only a person knows. */
function otherSpelling(
  known: Exclude<Known, { kind: 'nothing' }>,
  { number }: Candidate,
): string | undefined {
  return numberOf(known) === number ? undefined : numberOf(known);
}
