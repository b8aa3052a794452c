import type { Batch, Batches } from '../ledger/batches/batches.ts';
import {
  type ClosingRequest,
  type ClosingResult,
  createDeadLetters,
  type FixedBy,
} from '../ledger/dead-letters.ts';
import type { Entry } from '../ledger/entry.ts';
import { createKnownInvalid } from '../ledger/known-invalid.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { createNumberClaims, createRenumbering } from '../ledger/number-claims.ts';
import { discarded } from '../ledger/state-machine/decision.ts';
import { closedBy, type DeadLetter, placesOf } from '../order/dead-letter.ts';
import { formerOf, isRecognizable } from '../order/digest.ts';
import { splitId } from '../order/letter-id.ts';
import type { Outcome } from '../order/outcome.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/time.ts';
import type { ReportedOrder } from '../report/write-report.ts';
import {
  type FoundDeadLetter,
  letterInProgress,
  type ProgressContext,
} from './dead-letters-in-progress.ts';

export type FixedDeps = {
  batches: Batches;
  ledger: Ledger;
  redis: Redis;
  keys: Keys;
  time: RedisTime;
  /** The dead letters in the report of a settled batch. */
  reported(batch: string): AsyncIterable<DeadLetter>;
};

/** A dead letter whose rows came back: its number and outcome now, and its dead letter if it needs a person again. */
type CameBack = { number: string; outcome: Outcome; successor: string | undefined };

/** What came back, by batch and place of the old dead letter. */
type CameBackOf = Map<string, Map<string, CameBack>>;

/** Dead letters remembered at a time. The list of their batch is read once for each portion. */
const PORTION = 50_000;

/**
 * Passes on the orders of the batch `by` and closes the old dead letters whose rows came back in it with another
 * number, or still need a person, or had no number before: the success of a number does not close those. From then on
 * the rows belong to the batch that brought them. Can be repeated.
 */
export async function* closeFixed(
  deps: FixedDeps,
  orders: AsyncIterable<ReportedOrder>,
  by: string,
): AsyncGenerator<ReportedOrder> {
  const close = createFixedClosing(deps, by);
  const cameBack: CameBackOf = new Map();
  for await (const one of orders) {
    remember(cameBack, one);
    if (sizeOf(cameBack) >= PORTION) await close(cameBack);
    yield one;
  }
  await close(cameBack);
}

function remember(
  cameBack: CameBackOf,
  { order, result: { outcome }, deadLetter }: ReportedOrder,
): void {
  if (outcome === 'cancelled') return;
  const { records, number } = order;
  const successor = deadLetter?.id;
  for (const { fixTarget } of records) {
    if (fixTarget === undefined) continue;
    const places = cameBack.get(fixTarget.batch) ?? new Map<string, CameBack>();
    cameBack.set(fixTarget.batch, places.set(fixTarget.place, { number, outcome, successor }));
  }
}

function sizeOf(cameBack: CameBackOf): number {
  return cameBack.values().reduce((sum, { size }) => sum + size, 0);
}

function createFixedClosing(deps: FixedDeps, by: string) {
  const { batches, time, reported } = deps;
  const deadLetters = createDeadLetterClosing(deps);
  const claims = createNumberClaims(deps);
  const renumbering = createRenumbering(deps);

  /** Closes what is remembered and forgets it. Batches that have no report yet are skipped. */
  return async (cameBack: CameBackOf): Promise<void> => {
    for (const [batch, places] of cameBack) {
      if (batch === by || (await batches.find(batch))?.state !== 'done') continue;
      for await (const deadLetter of reported(batch)) {
        const now = cameBackOf(deadLetter, places);
        const next = now.find((one) => continuesIn(deadLetter, one));
        if (next !== undefined) await closeOne(deadLetter, batch, next);
      }
    }
    cameBack.clear();
  };

  function broughtAs({ outcome, successor }: CameBack): FixedBy {
    return {
      at: time.now(),
      batch: by,
      ...(successor === undefined ? { outcome } : { successor }),
    };
  }

  /** What the dead letter became under a new number, which another file may have brought first. A later version of an export may have the old one. */
  async function keepOther(
    deadLetter: DeadLetter,
    from: string,
    { number, outcome }: CameBack,
  ): Promise<void> {
    const was = formerOf(deadLetter);
    if (number === was.number || was.number === '') return;
    const [known] = await deps.ledger.lookup([number]);
    const no =
      known?.kind === 'accepted'
        ? known.compact.batchNo
        : known?.kind === 'open'
          ? known.entry.batchNo
          : 0;
    const brought = await batches.nameOf(no);
    if (brought === undefined) return;
    const owner = { number, batch: brought, no };
    if (outcome === 'duplicate' && isRecognizable(was))
      await claims.reportedNumber(owner, was, from);
    const rows = placesOf(deadLetter).map((place) => ({ batch: from, place }));
    await renumbering([{ owner, rows }], () => was);
  }

  async function closeOne(deadLetter: DeadLetter, batch: string, now: CameBack): Promise<void> {
    const known = await deadLetters.find(deadLetter);
    const isLate = !known.isOpen || (known.owned && discarded(known.owned, 0).kind === 'ignore');
    const brought = broughtAs(now);
    if (!isLate && known.owned !== undefined) await keepAsItWas(known.owned, now.number, deps);
    if (!isLate && now.successor === undefined) await keepOther(deadLetter, batch, now);
    if (!isLate) await deadLetters.close(deadLetter, known, brought);
  }
}

function cameBackOf(deadLetter: DeadLetter, places: ReadonlyMap<string, CameBack>): CameBack[] {
  return placesOf(deadLetter).flatMap((place) => places.get(place) ?? []);
}

/** An export shows an order that a person corrected as it was before, also if it has another number now. */
async function keepAsItWas(
  owned: Entry,
  number: string,
  { batches, ...store }: ClosingDeps,
): Promise<void> {
  const knownInvalid = createKnownInvalid(store);
  await knownInvalid.corrected([owned], batches);
  if (number !== owned.order.purchaseOrderNumber) await knownInvalid.renumbered(owned, batches);
}

/** Whether the rows of a dead letter need a person in the batch that brought them, or now belong to it. */
function continuesIn({ purchaseOrderNumber: before, closed }: DeadLetter, now: CameBack): boolean {
  return (
    now.successor !== undefined ||
    (closed === undefined && (before === '' || before !== now.number))
  );
}

/**
 * What the ledger knows of a dead letter: `seen`, the version of the ledger's entry of its number; and `owned`, that entry, when
 * it belongs to this dead letter.
 */
export type KnownDeadLetter = { isOpen: boolean; seen?: number; owned?: Entry };

export type ClosingDeps = { batches: Batches; ledger: Ledger; redis: Redis; keys: Keys };

/** Closes a single dead letter: after a person discarded it, or when its rows came back in another batch. */
export function createDeadLetterClosing(deps: ClosingDeps) {
  const deadLetters = createDeadLetters(deps);

  async function find(deadLetter: Named): Promise<KnownDeadLetter> {
    if (!(await deadLetters.isOpen(deadLetter))) return { isOpen: false };
    const [batch, ordinal] = splitId(deadLetter.id);
    const [known] = await deps.ledger.lookup([deadLetter.purchaseOrderNumber]);
    const entry = known?.kind === 'open' ? known.entry : undefined;
    const isOwned = entry?.batch === batch && entry.ordinal === ordinal;
    return {
      isOpen: true,
      ...(entry ? { seen: entry.version } : {}),
      ...(isOwned ? { owned: entry } : {}),
    };
  }

  /**
   * Closes what `find` returned. `late`: its order changed meanwhile, so nothing was closed. What a person decides also
   * depends on the order of another file with this number.
   */
  function close(
    { id, purchaseOrderNumber: number }: Named,
    { owned, seen = 0 }: KnownDeadLetter,
    by: ClosingRequest['by'],
  ): Promise<ClosingResult> {
    const onlyOver = 'batch' in by || number === '' ? {} : { seen };
    const entry = owned ? { entry: owned } : {};
    return deadLetters.close({ id, number, ...entry, ...onlyOver, by });
  }

  return { find, close };
}

type Named = Pick<DeadLetter, 'id' | 'purchaseOrderNumber'>;

/** The dead letters of these batches in progress that somebody closed already; rows without a number are in the report only. */
export async function* closedInProgress(
  context: ProgressContext,
  of: Batch[],
): AsyncGenerator<FoundDeadLetter> {
  for (const batch of of) {
    for (const [id, closing] of await context.batches.closings(batch.batch)) {
      const [, ordinal] = splitId(id);
      const found =
        closing.number === ''
          ? []
          : await letterInProgress(closing.number, ordinal, batch, context);
      for (const letter of found) yield { ...letter, closed: closedBy(closing) };
    }
  }
}
