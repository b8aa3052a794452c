import { type DeadLetter, placesOf } from '../order/dead-letter.ts';
import { type Former, formerOf, isRecognizable } from '../order/digest.ts';
import { keyOf } from '../order/number-key.ts';
import type { FixTarget } from '../order/record.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RowClaim } from './commits.ts';
import { readOpenDeadLetters } from './dead-letters.ts';
import type { Ledger } from './ledger.ts';
import {
  type Claiming,
  createRowClaims,
  mayHaveOwner,
  type RowOwner,
  type TakenRow,
} from './row-claims.ts';

/** The field of `keys.renumbered`: a spreadsheet that saves the file again may write its number in another spelling. */
function formerField({ number, content }: Former): string {
  return JSON.stringify([keyOf(number), content]);
}

/** As `keys.renumbered` has the orders that a person made of one. `from`: the batch in which the rows were first. */
type NewOwner = RowOwner & { from: string };

/** Another number, and not an order that came again as it was: that one concerns only those who give its number up. */
const isRenumbered = ({ batch, from }: NewOwner): boolean => from !== batch;

const textOf = (owners: readonly NewOwner[]): string => JSON.stringify(owners);
const ownersIn = (text: string | null | undefined): NewOwner[] =>
  text ? (JSON.parse(text) as NewOwner[]) : [];

/** Each order that a person gave another number in a fix file is that one order, whichever files have it as it was. */
export function createNumberClaims(deps: {
  redis: Redis;
  keys: Keys;
  ledger: Pick<Ledger, 'lookup'>;
}) {
  const { redis, keys } = deps;
  const rowClaims = createRowClaims(deps);
  const { firstOf, formersOf, isAlive } = rowClaims;

  async function aliveIn(text: string | null | undefined, number: string): Promise<NewOwner[]> {
    const others = ownersIn(text).filter((by) => by.number !== number);
    const are = await Promise.all(others.map(isAlive));
    return others.filter((_, i) => are[i]);
  }

  /** What an order claims to be the only one that its rows, and their orders in other files, become; or the first that another has. */
  async function claim(
    owner: RowOwner,
    rows: readonly FixTarget[],
    { formerOf = () => undefined, isMeant = false }: Claiming = {},
  ): Promise<readonly RowClaim[] | TakenRow> {
    const found = await rowClaims.claim(owner, rows, { isMeant });
    if ('by' in found) return found;
    const formers = new Map<string, { was: Former; target: FixTarget }>();
    // The first row of each is named.
    for (const target of rows.toReversed())
      for (const was of (await formersOf(target, formerOf(target))).filter(isRecognizable))
        formers.set(formerField(was), { was, target });
    const claims = [...found];
    for (const [field, { was, target }] of formers) {
      const before = (await redis.hget(keys.renumbered, field)) ?? '';
      const { batch: from } = await firstOf(target);
      const others = await aliveIn(before, owner.number);
      // Rows of one order that a person gives two numbers are two orders, also where one of them comes back later.
      const isOther = (one: NewOwner) => one.batch !== owner.batch && one.from !== from;
      const by = others.find(
        (one) => isOther(one) && (isRenumbered(one) || one.number === was.number),
      );
      if (by && !isMeant) return { row: target, target, by };
      const after = was.number === owner.number ? '' : textOf([...others, { ...owner, from }]);
      claims.push({ batch: '', field, before, after });
    }
    return claims;
  }

  /** For each of some orders of a file, the order that is accepted or may be, which a person made of it under another number. */
  async function renumbered(orders: readonly Former[]): Promise<(RowOwner | undefined)[]> {
    if (orders.length === 0) return [];
    const found = await redis.hmget(keys.renumbered, ...orders.map(formerField));
    return await Promise.all(
      orders.map(async ({ number }, i) => (await aliveIn(found[i], number)).find(isRenumbered)),
    );
  }

  /** Keeps that a report says that an order of `batch` has another number now. Repeatable. */
  async function reportedNumber(owner: RowOwner, was: Former, batch: string): Promise<void> {
    const [by] = await renumbered([was]);
    const text = textOf([{ ...owner, from: batch }]);
    if (by === undefined) await redis.hset(keys.renumbered, formerField(was), text);
  }

  return {
    ...rowClaims,
    claim,
    renumbered,
    unchanged: createUnchanged(deps, aliveIn),
    reportedNumber,
  };
}

/**
 * Builds what gives, for each of some orders of a file, the order that a person made of it under another number, or what it claims: where its
 * number waits for a person, a fix file at the same moment cannot make it another order.
 */
function createUnchanged(
  { redis, keys }: { redis: Redis; keys: Keys },
  aliveIn: (text: string | null | undefined, number: string) => Promise<NewOwner[]>,
) {
  return async (
    orders: readonly Former[],
    { batch, no }: Pick<RowOwner, 'batch' | 'no'>,
  ): Promise<(RowOwner | readonly RowClaim[])[]> => {
    if (orders.length === 0) return [];
    const [texts, letters] = await Promise.all([
      redis.hmget(keys.renumbered, ...orders.map(formerField)),
      redis.hmget(keys.waiting, ...orders.map(({ number }) => number)),
    ]);
    const claimOf = async (was: Former, i: number) => {
      const others = await aliveIn(texts[i], was.number);
      const by = others.find(isRenumbered);
      if (by !== undefined) return by;
      const after = textOf([...others, { number: was.number, batch, no, from: batch }]);
      return letters[i]
        ? [{ batch: '', field: formerField(was), before: texts[i] ?? '', after }]
        : [];
    };
    return await Promise.all(orders.map(claimOf));
  };
}

/** For each of some dead letters, the order under another number that it became, or that all of its rows became; none for a closed one. */
export async function madeOthers(
  letters: readonly ToBecome[],
  deps: Parameters<typeof createNumberClaims>[0],
): Promise<(RowOwner | undefined)[]> {
  const claims = createNumberClaims(deps);
  const names = [...new Set(letters.map(({ batch }) => batch))];
  const owned = new Map(
    await Promise.all(names.map(async (one) => [one, await mayHaveOwner(one, deps)] as const)),
  );
  const renumbered = await claims.renumbered(letters.map(formerOf));
  const ofRows = async ({ batch, ...letter }: (typeof letters)[number]) => {
    const places = placesOf(letter);
    if (!places.every((place) => owned.get(batch)?.(place))) return undefined;
    const owners = await Promise.all(places.map((place) => claims.ownerOf({ batch, place })));
    return owners.some((one) => one === undefined || one.number === letter.purchaseOrderNumber)
      ? undefined
      : owners[0];
  };
  return await Promise.all(
    letters.map(async (letter, i) =>
      letter.closed ? undefined : (renumbered[i] ?? (await ofRows(letter))),
    ),
  );
}

/**
 * Orders that a person gave another number and that an export has, too: its later versions may show them under the old one with other
 * items. Kept in fields of `keys.knownInvalid`.
 */
export function createOldNumbers(deps: Parameters<typeof createNumberClaims>[0]) {
  const { redis, keys, ledger } = deps;
  const { isAlive } = createRowClaims(deps);
  const fieldOf = (number: string) => `~${number}`;

  /** Keeps that an order of these batches was sent as `owner`, where they are versions of an export. Repeatable. */
  async function remember(
    batches: Iterable<string>,
    number: string,
    owner: RowOwner,
  ): Promise<void> {
    if (number === '' || number === owner.number) return;
    const sources = new Set(await Promise.all([...new Set(batches)].map(exportOf)));
    for (const source of sources) {
      if (source === undefined) continue;
      // One that was split has several, and the API may refuse one of them.
      const kept = await keptIn(source, [number]);
      const others = (kept[0] ?? []).filter(
        (one) => one.number !== owner.number || one.batch !== owner.batch,
      );
      await redis.hset(
        keys.knownInvalid(source),
        fieldOf(number),
        JSON.stringify([...others, owner]),
      );
    }
  }

  async function keptIn(source: string, numbers: readonly string[]): Promise<RowOwner[][]> {
    const kept = await redis.hmget(keys.knownInvalid(source), ...numbers.map(fieldOf));
    return kept.map((text) => (text ? [JSON.parse(text) as RowOwner | RowOwner[]].flat() : []));
  }

  /** The source of a batch that is a version of an export. */
  async function exportOf(batch: string): Promise<string | undefined> {
    const [kind, source] = await redis.hmget(keys.batch(batch), 'kind', 'source');
    return kind === 'export' && source ? source : undefined;
  }

  /** For each number of an export, the order that is accepted or may be under another one, if a person gave it that. */
  async function ownersOf(
    source: string,
    numbers: readonly string[],
  ): Promise<(RowOwner | undefined)[]> {
    if (numbers.length === 0) return [];
    const kept = await keptIn(source, numbers);
    return await Promise.all(
      numbers.map(async (number, i) => {
        const owners = kept[i] ?? [];
        const are = await Promise.all(owners.map(isAlive));
        const owner = owners.find((_, at) => are[at]);
        if (owner === undefined) return undefined;
        const [known] = await ledger.lookup([number]);
        // A fix file sent it under this number since: a person confirmed that it is another order.
        const isOfOther = known?.kind === 'open' && (await exportOf(known.entry.batch)) !== source;
        return isOfOther ? undefined : owner;
      }),
    );
  }

  return { remember, exportOf, ownersOf };
}

/**
 * Builds what keeps the numbers that orders of a fix file had before, in this file or in one before. Call before they are entered: it may take long
 * until they are accepted. One after another, because two may have been one order.
 */
export function createRenumbering(deps: Parameters<typeof createNumberClaims>[0]) {
  const { remember } = createOldNumbers(deps);
  const { firstOf, formersOf } = createRowClaims(deps);

  return async (orders: readonly Renumbered[], formerOf: FormerOf): Promise<void> => {
    const formers = ({ rows }: Renumbered) =>
      Promise.all(rows.map((row) => formersOf(row, formerOf(row))));
    const was = await Promise.all(orders.map(formers));
    for (const [i, { owner, rows }] of orders.entries())
      for (const number of new Set(was[i]?.flat().map((one) => one.number))) {
        if (number === owner.number) continue;
        const first = await Promise.all(rows.map(firstOf));
        const open = readOpenDeadLetters((await deps.redis.hget(deps.keys.waiting, number)) ?? '');
        const have = [...first, ...open].map(({ batch }) => batch);
        await remember(have, number, owner);
      }
  };
}

/** An order of a fix file, with the rows of its dead letters. */
type Renumbered = { owner: RowOwner; rows: readonly FixTarget[] };

type FormerOf = (row: FixTarget) => Former | undefined;

/** What is asked of a dead letter, as a list or its report has it. `content`: the digest of its items, instead of them. */
export type ToBecome = Pick<
  DeadLetter,
  'purchaseOrderNumber' | 'location' | 'closed' | 'payload'
> & {
  batch: string;
  content?: string;
};
