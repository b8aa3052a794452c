import type { Former } from '../order/digest.ts';
import { placeText } from '../order/fixing.ts';
import type { FixFacts, FixTarget, Place } from '../order/record.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { SameContent } from './batches/aftermath.ts';
import type { RowClaim } from './commits.ts';
import { isUnderWay, type Known } from './entry.ts';
import type { Ledger } from './ledger.ts';

/**
 * An order that rows of dead letters became: its number, and the batch that brought it. `no` 0: its report says that it was
 * accepted. `at`: a person sent it again.
 */
export type RowOwner = { number: string; batch: string; no: number; at?: number };

/** What a row was in the batch that it comes from, if that is known. `isMeant`: a person confirmed what it is now. */
export type Claiming = { formerOf?: (row: FixTarget) => Former | undefined; isMeant?: boolean };

/** A row that another order has, which is accepted or may be. `target`: as the fix file names it. */
export type TakenRow = {
  row: FixTarget;
  target: FixTarget;
  by: Pick<RowOwner, 'number' | 'batch'>;
};

/** Which rows of earlier batches the rows of a fix file were. */
function createOrigins({ redis, keys }: { redis: Redis; keys: Keys }) {
  /** The row as it was in the first batch that had it, also in a file with the same content. */
  async function firstOf({ batch, place }: FixTarget): Promise<FixTarget> {
    const from = await redis.hget(keys.corrected(batch), `from ${place}`);
    const row = from === null ? { batch, place } : (JSON.parse(from) as FixTarget);
    const repeats = await redis.hget(keys.batch(row.batch), 'repeats');
    if (repeats === null) return row;
    const first = JSON.parse(repeats) as SameContent;
    // What a forgotten batch kept is gone, and nothing would remove what is written to it now.
    return (await redis.exists(keys.batch(first.batch))) === 1
      ? { batch: first.batch, place: row.place }
      : row;
  }

  /** What a row was in the batch that it comes from, and in those before. */
  async function formersOf(
    { batch, place }: FixTarget,
    own: Former | undefined,
  ): Promise<Former[]> {
    const before = await redis.hget(keys.corrected(batch), `was ${place}`);
    return [...(before === null ? [] : (JSON.parse(before) as Former[])), ...(own ? [own] : [])];
  }

  /** Keeps of each record of a fix file which row of an earlier batch it was first, and what it was until now. Repeatable. */
  async function remember(
    batch: string,
    records: readonly ({ place: Place } & FixFacts)[],
    formerOf: Claiming['formerOf'] = () => undefined,
  ): Promise<void> {
    await Promise.all(
      records.map(async ({ fixTarget, place }) => {
        if (fixTarget === undefined) return;
        const was = await formersOf(fixTarget, formerOf(fixTarget));
        const at = placeText(place);
        await redis.hset(keys.corrected(batch), {
          [`from ${at}`]: JSON.stringify(await firstOf(fixTarget)),
          ...(was.length > 0 && { [`was ${at}`]: JSON.stringify(was) }),
        });
      }),
    );
  }

  return { firstOf, formersOf, remember };
}

/** Each row of a dead letter becomes one order, however many fix files bring it back, and when a person sends it again. */
export function createRowClaims({
  redis,
  keys,
  ledger,
}: {
  redis: Redis;
  keys: Keys;
  ledger: Pick<Ledger, 'lookup'>;
}) {
  const { firstOf, ...origins } = createOrigins({ redis, keys });

  /** What an order claims to be the only one that its rows become; or the first row that another order has. */
  async function claim(
    owner: RowOwner,
    rows: readonly FixTarget[],
    { isMeant }: Pick<Claiming, 'isMeant'> = {},
  ): Promise<readonly RowClaim[] | TakenRow> {
    const claims: RowClaim[] = [];
    for (const row of rows) {
      const { batch, place } = await firstOf(row);
      const field = `as ${place}`;
      const before = (await redis.hget(keys.corrected(batch), field)) ?? '';
      const by = before === '' ? undefined : (JSON.parse(before) as RowOwner);
      const isTaken = by !== undefined && by.number !== owner.number && (await isAlive(by));
      if (isTaken && !isMeant) return { row: { batch, place }, target: row, by };
      if (!isTaken) claims.push({ batch, field, before, after: JSON.stringify(owner) });
    }
    return claims;
  }

  /** The order that a row became, where that is accepted or may be. */
  async function ownerOf(row: FixTarget): Promise<RowOwner | undefined> {
    const { batch, place } = await firstOf(row);
    const found = await redis.hget(keys.corrected(batch), `as ${place}`);
    const by = found === null ? undefined : (JSON.parse(found) as RowOwner);
    return by !== undefined && (await isAlive(by)) ? by : undefined;
  }

  async function isAlive(by: RowOwner): Promise<boolean> {
    // The ledger may not have it: it lost its data, and the API's list is not read yet.
    if (by.no === 0) return true;
    const [known] = await ledger.lookup([by.number]);
    return known !== undefined && isOf(known, by);
  }

  return { ...origins, firstOf, claim, ownerOf, isAlive };
}

/** Whether the ledger has the order of an owner, and it is accepted, in progress or in doubt. */
function isOf(known: Known, { batch, no }: RowOwner): boolean {
  if (known.kind === 'accepted') return known.compact.batchNo === no;
  return isUnderWay(known) && known.entry.batch === batch;
}

/** Whether `ownerOf` may know an order of a row of this batch, without a call for each row. */
export async function mayHaveOwner(
  batch: string,
  { redis, keys }: { redis: Redis; keys: Keys },
): Promise<(place: string) => boolean> {
  const fields = new Set(await redis.hkeys(keys.corrected(batch)));
  const repeats = await redis.hexists(keys.batch(batch), 'repeats');
  return (place) => repeats === 1 || fields.has(`as ${place}`) || fields.has(`from ${place}`);
}
