import { idOf } from '../../order/letter-id.ts';
import {
  type Entry,
  isSameContent,
  type Known,
  type Listed,
  numberOf,
  occurrencesOf,
  versionAfter,
} from '../entry.ts';
import type { Seen } from '../seen.ts';
import { discarded } from './decision.ts';
import { type Step, SWEEP_AFTER } from './step.ts';

/** Where an order comes from, and the job that carries it. */
export type Arrival = Pick<
  Entry,
  'order' | 'digest' | 'batch' | 'batchNo' | 'ordinal' | 'place' | 'job' | 'from'
>;

/** A file brings an order. `isAgain`: a person sends it deliberately, in a fix file. */
export type Appears = {
  kind: 'appears';
  at: number;
  arrival: Arrival;
  isAgain?: boolean;
  isExport?: boolean;
  /** The dead letter that its content stays with. */
  seen?: Seen | undefined;
  /** Its batch was canceled. */
  isCancelled?: boolean;
};

/** What becomes of an order that a file brings (docs/how-it-works.md, "What becomes of an order"). */
export type Appearance =
  /** New, or corrected: it is sent. `before` is the dead letter that it replaces. */
  | { kind: 'queue'; entry: Entry; due: number; before: Entry | undefined }
  /** The same order of the same batch, read again after a crash. */
  | { kind: 'mine' }
  /**
   * Accepted already. `batchNo` names the batch that brought it; 0: it is from the API's list. `of`: it is still in progress,
   * and this one does not wait for it.
   */
  | { kind: 'duplicate'; batchNo: number; of?: Entry }
  /** The same order is in progress: this one shares its outcome, or takes its place when it is canceled. */
  | { kind: 'join'; entry: Entry; before: Entry }
  /** The API has exactly this content, and the ledger holds a conflict about the number: that ends with `step`. */
  | { kind: 'corrected'; entry: Entry; step: Step }
  /** It would be sent or wait for another order, but its batch was canceled. */
  | { kind: 'cancelled' }
  /** `known` is the other content, where it is known; `as`: its number there, if another, or spelled in another way. */
  | { kind: 'conflict'; batchNo: number; underWay: boolean; known?: Listed; as?: string }
  /** Its content needed a person: it stays with that dead letter. */
  | ({ kind: 'seen' } & Seen)
  /** The same, which a person brings deliberately, or whose dead letter is lost. */
  | { kind: 'repeat'; entry: Entry };

/** What an order that a file brings is to what the ledger knows under its number. */
export function appeared(known: Known, event: Appears): Appearance {
  const appearance = withSeen(against(known, event), event);
  const starts = appearance.kind === 'queue' || appearance.kind === 'join';
  return event.isCancelled && starts ? { kind: 'cancelled' } : appearance;
}

/** What is accepted or in progress with the same content says more. */
function withSeen(appearance: Appearance, { seen, isAgain }: Appears): Appearance {
  const { kind } = appearance;
  const isNew = kind === 'queue' || kind === 'conflict';
  return seen && seen.is !== 'lost' && isNew && !isAgain ? { kind: 'seen', ...seen } : appearance;
}

function against(known: Known, event: Appears): Appearance {
  switch (known.kind) {
    case 'nothing':
      return queued(undefined, event);
    case 'accepted': {
      const { digest, batchNo, became } = known.compact;
      const as = became ?? otherSpelling(known, event.arrival);
      const isOne = as === undefined || became !== undefined;
      return isOne && isSameContent(digest, event.arrival.digest)
        ? { kind: 'duplicate', batchNo }
        : { kind: 'conflict', batchNo, underWay: false, ...(as !== undefined && { as }) };
    }
    case 'open':
      return againstOpen(known.entry, event);
  }
}

function againstOpen(entry: Entry, event: Appears): Appearance {
  const { arrival, isAgain } = event;
  const { batch, ordinal } = arrival;
  if (occurrencesOf(entry).some((one) => one.batch === batch && one.ordinal === ordinal))
    return { kind: 'mine' };
  const as = otherSpelling({ kind: 'open', entry }, arrival);
  const same = as === undefined && entry.digest === arrival.digest;
  switch (entry.state) {
    case 'queued':
    case 'sending':
    case 'retry':
    case 'unknown':
      return same ? joined(entry, event) : underWay(entry, as);
    case 'inDoubt':
      return same ? unchanged(entry, event) : underWay(entry, as);
    case 'failed':
    case 'refused':
      return same && !isAgain ? unchanged(entry, event) : queued(entry, event);
    case 'conflict':
      return againstConflict(entry, event, { same, as });
  }
}

/** Files that an entry names. */
const MOST = 16;

/** An export shows its orders again: it need not wait. */
function joined(before: Entry, { at, arrival, isExport }: Appears): Appearance {
  const { batchNo, also = [] } = before;
  if (isExport || also.length + 1 >= MOST) return { kind: 'duplicate', batchNo, of: before };
  const { batch, ordinal, place } = arrival;
  const all = [...also, { batch, batchNo: arrival.batchNo, ordinal, place }];
  const entry = { ...before, version: versionAfter(before.version, at), also: all };
  return { kind: 'join', entry, before };
}

/** What the API is known to have is never sent again: only a person's `resend` does that. */
function againstConflict(
  entry: Entry,
  event: Appears,
  { same, as }: { same: boolean; as: string | undefined },
): Appearance {
  const { known } = entry;
  const { at, arrival } = event;
  if (as === undefined && known?.digest === arrival.digest)
    return { kind: 'corrected', entry, step: discarded(entry, at) };
  if (same) return unchanged(entry, event);
  return {
    kind: 'conflict',
    batchNo: 0,
    underWay: false,
    ...(known === undefined ? {} : { known }),
    ...(as !== undefined && { as }),
  };
}

/** Sending it again would end the same way. */
function unchanged(entry: Entry, { isAgain, seen }: Appears): Appearance {
  if (isAgain || seen?.is === 'lost') return { kind: 'repeat', entry };
  return { kind: 'seen', ...(seen ?? { letter: idOf(entry.batch, entry.ordinal), is: 'open' }) };
}

function underWay({ batchNo, digest, order }: Entry, as: string | undefined): Appearance {
  const known = { digest, items: order.items };
  return { kind: 'conflict', batchNo, underWay: true, known, ...(as !== undefined && { as }) };
}

/** How the ledger has the number, if that is another spelling: whether it is the same order, only a person knows. */
function otherSpelling(
  known: Exclude<Known, { kind: 'nothing' }>,
  { order }: Arrival,
): string | undefined {
  return numberOf(known) === order.purchaseOrderNumber ? undefined : numberOf(known);
}

/** Its entry keeps the attempt number of a dead letter. */
function queued(before: Entry | undefined, { arrival, at }: Appears): Appearance {
  const entry: Entry = {
    version: versionAfter(before?.version ?? 0, at),
    state: 'queued',
    ...arrival,
    attempt: before?.attempt ?? 0,
    used: 0,
    absences: 0,
    ...(before?.maybeSentAt === undefined ? {} : { maybeSentAt: before.maybeSentAt }),
    ...(before && keyAfter(before, arrival, at)),
  };
  return { kind: 'queue', entry, due: at + SWEEP_AFTER, before };
}

/** Only the same content that failed keeps its idempotency key: with it, the API could repeat a refusal. */
function keyAfter(before: Entry, { digest }: Arrival, at: number): Partial<Entry> {
  const { state, renewedAt, keyed } = before;
  if (state !== 'failed' || digest !== before.digest) return { renewedAt: at };
  return { ...(renewedAt !== undefined && { renewedAt }), ...(keyed && { keyed }) };
}
