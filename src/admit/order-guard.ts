import { type Batch, type Batches, namedBatch } from '../ledger/batches/batches.ts';
import type { RowClaim } from '../ledger/commits.ts';
import { readOpenDeadLetters } from '../ledger/dead-letters.ts';
import { isUnderWay } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { createNumberClaims, createRenumbering } from '../ledger/number-claims.ts';
import { createRowClaims, type TakenRow } from '../ledger/row-claims.ts';
import { placeText } from '../order/fixing.ts';
import type { CheckedOrder, InvalidOrder, ValidOrder } from '../order/order.ts';
import type { FixTarget } from '../order/record.ts';
import type { Store } from '../redis/store.ts';
import {
  type Claims,
  createNumberGuard,
  createOldNumberGuard,
  firstFound,
  type Guarded,
  heldAsTaken,
  heldBack,
} from './held-back.ts';
import { type Corrects, type FileFacts, formerIn, mayBeRowOf } from './plan.ts';

type Deps = Pick<Store, 'redis' | 'keys'> & {
  ledger: Pick<Ledger, 'lookup'>;
  batches: Pick<Batches, 'find' | 'nameOf'>;
};

/** Holds orders that another order of the ledger puts in doubt. */
export function createOrderGuard(deps: Deps) {
  const { remember } = createRowClaims(deps);
  const renumbering = createRenumbering(deps);
  return {
    /** Of a page of a fix file, keeps which rows its records were first. */
    async page(
      { batch }: Batch,
      page: readonly CheckedOrder[],
      { corrects }: Pick<FileFacts, 'corrects'>,
    ): Promise<void> {
      const formerOf = formerIn(corrects);
      await Promise.all(page.map(({ records }) => remember(batch, records, formerOf)));
    },
    rows: createRowGuard(deps),
    async entering(
      { batch, no }: Batch,
      orders: readonly { order: ValidOrder }[],
      corrects?: Corrects,
    ): Promise<void> {
      const ofRows = orders.map(({ order }) => ({
        owner: { number: order.number, batch, no },
        rows: targetsOf(order),
      }));
      await renumbering(ofRows, formerIn(corrects));
    },
  };
}

/**
 * Holds orders whose row is already another order: one that another fix file brought, or the one of its dead letter, where
 * that was sent again. What it returns is claimed in the step that enters the order, so that of two fix files at once one
 * waits.
 */
function createRowGuard({ ledger, redis, keys, batches }: Deps) {
  const claims = createNumberClaims({ redis, keys, ledger });
  const repeated = createRepeatGuard(claims, batches);
  const sentSince = createSentSince(claims, { ledger, batches });
  const [notFixed, old] = [
    createNumberGuard(claims, batches),
    createOldNumberGuard({ redis, keys, ledger, batches }),
  ];

  /** The batch in which the number of an order waits for a person, with other rows than those of this order. */
  async function replaced({ number, records }: ValidOrder, corrects: Corrects | undefined) {
    if (corrects === undefined || records.some((record) => mayBeRowOf(number, record, corrects)))
      return undefined;
    const [waits] = readOpenDeadLetters((await redis.hget(keys.waiting, number)) ?? '');
    return waits && (await namedBatch(waits.batch, batches));
  }

  return async (
    { batch, no, repeats, kind, source }: Pick<Batch, 'batch' | 'no'> & Partial<Batch>,
    orders: readonly ValidOrder[],
    { isFixFile, corrects }: { isFixFile: boolean; corrects?: Corrects | undefined },
  ): Promise<Guarded> => {
    const also = repeats && ((order: ValidOrder) => repeated(order, batch));
    if (!isFixFile)
      return await old.among(batch, { kind, source }, await notFixed({ batch, no }, orders, also));
    const formerOf = formerIn(corrects);
    const guard = async (order: ValidOrder): Promise<readonly RowClaim[] | InvalidOrder> => {
      const rows = targetsOf(order);
      const owner = { number: order.number, batch, no };
      const isMeant = order.records.every(({ isConfirmed }) => isConfirmed);
      const found = await claims.claim(owner, rows, { formerOf, isMeant });
      if (isMeant) return 'by' in found ? [] : found;
      const since = (row: FixTarget) => sentSince(order, row, corrects, batch);
      const taken = 'by' in found ? found : await firstFound(rows, since);
      if (taken !== undefined) {
        const claim = (row: FixTarget) => claims.claim(owner, [row], { formerOf });
        const isTaken = async (row: FixTarget) =>
          'by' in (await claim(row)) || !!(await since(row));
        return await heldAsTaken(order, taken, isTaken, batches);
      }
      const from = await replaced(order, corrects);
      const { number } = order;
      if (from) return heldBack(order, { code: 'rows-left-out', facts: { number, from } });
      return (await old.ofFix(order, rows)) ?? ('by' in found ? [] : found);
    };
    return new Map(
      await Promise.all(orders.map(async (order) => [order, await guard(order)] as const)),
    );
  };
}

/** Builds what gives the order of the dead letter that a row comes from, or of one before, if it came with that batch or later and has not ended. */
function createSentSince(
  { formersOf }: Claims,
  { ledger, batches }: Pick<Deps, 'ledger' | 'batches'>,
) {
  return async (
    { number }: ValidOrder,
    target: FixTarget,
    corrects: Corrects | undefined,
    own: string,
  ): Promise<TakenRow | undefined> => {
    const { batch } = target;
    const last = formerIn(corrects)(target)?.number;
    const all = new Set((await formersOf(target, undefined)).map((one) => one.number));
    const others = [...(last ? [last] : []), ...all].filter((one) => one !== number);
    const named = others.length > 0 ? await batches.find(batch) : undefined;
    const from = (named?.repeats && (await batches.find(named.repeats.batch))) ?? named;
    if (from === undefined) return undefined;
    return await firstFound(others, async (was) => {
      const [known = { kind: 'nothing' }] = await ledger.lookup([was]);
      const no =
        known.kind === 'accepted'
          ? known.compact.batchNo
          : isUnderWay(known)
            ? known.entry.batchNo
            : -1;
      if (no < from.no) return undefined;
      const name = (await batches.nameOf(no)) ?? batch;
      // Rows of one order that a person gives two numbers are two orders.
      const isSplit = name === own || (was !== last && name === batch);
      return isSplit ? undefined : { row: target, target, by: { number: was, batch: name } };
    });
  };
}

/** Holds an order of a file that was read before, of which a row was accepted since under another number. */
function createRepeatGuard({ ownerOf }: Claims, batches: Deps['batches']) {
  return async (given: ValidOrder, batch: string): Promise<readonly RowClaim[] | InvalidOrder> => {
    // The row of the first file with this content is meant.
    const records = given.records.map((one) => ({
      ...one,
      fixTarget: { batch, place: placeText(one.place) },
    }));
    const takenAt = async (row: FixTarget): Promise<TakenRow | undefined> => {
      const by = await ownerOf(row);
      return by === undefined || by.number === given.number ? undefined : { row, target: row, by };
    };
    const rows = records.map(({ fixTarget }) => fixTarget);
    const taken = await firstFound(rows, takenAt);
    const isTaken = async (row: FixTarget) => (await takenAt(row)) !== undefined;
    return taken ? await heldAsTaken({ ...given, records }, taken, isTaken, batches) : [];
  };
}

/** Builds the same for a preview: of orders that are not known under the number that the file has. */
export function createNumberHold(deps: Deps) {
  const rows = createRowGuard(deps);
  return async (page: readonly CheckedOrder[]): Promise<CheckedOrder[]> => {
    const known = await deps.ledger.lookup(page.map(({ number }) => number));
    const fresh = page.filter(
      (one, i): one is ValidOrder => one.valid && known[i]?.kind === 'nothing',
    );
    const all = await rows({ batch: '', no: -1 }, fresh, { isFixFile: false });
    return page.map((one) => {
      const held = one.valid ? all.get(one) : undefined;
      return held !== undefined && 'valid' in held ? held : one;
    });
  };
}

const targetsOf = ({ records }: ValidOrder) => records.flatMap(({ fixTarget }) => fixTarget ?? []);
