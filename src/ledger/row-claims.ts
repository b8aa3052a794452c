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

/** A row that another order has, which is accepted or may be. `target`: as the fix file names it. */
export type TakenRow = { row: FixTarget; target: FixTarget; by: Pick<RowOwner, 'number' | 'batch'> };

/** Each row of a dead letter becomes one order, however many fix files bring it back, and when a person sends it again. */
export function createRowClaims({ redis, keys, ledger }: { redis: Redis; keys: Keys; ledger: Pick<Ledger, 'lookup'> }) {
  /** The row as it was in the first batch that had it, also in a file with the same content. */
  async function firstOf({ batch, place }: FixTarget): Promise<FixTarget> {
    const from = await redis.hget(keys.corrected(batch), `from ${place}`);
    const row = from === null ? { batch, place } : (JSON.parse(from) as FixTarget);
    const repeats = await redis.hget(keys.batch(row.batch), 'repeats');
    if (repeats === null) return row;
    const first = JSON.parse(repeats) as SameContent;
    // What a forgotten batch kept is gone, and nothing would remove what is written to it now.
    return (await redis.exists(keys.batch(first.batch))) === 1 ? { batch: first.batch, place: row.place } : row;
  }

  /** Keeps of each record of a fix file which row of an earlier batch it was first. Repeatable. */
  async function remember(batch: string, records: readonly ({ place: Place } & FixFacts)[]): Promise<void> {
    await Promise.all(
      records.map(async ({ fixTarget, place }) => {
        if (fixTarget === undefined) return;
        await redis.hset(keys.corrected(batch), `from ${placeText(place)}`, JSON.stringify(await firstOf(fixTarget)));
      }),
    );
  }

  /** What an order claims to be the only one that its rows become; or the first row that another order has. */
  async function claim(owner: RowOwner, rows: readonly FixTarget[]): Promise<readonly RowClaim[] | TakenRow> {
    const claims: RowClaim[] = [];
    for (const row of rows) {
      const { batch, place } = await firstOf(row);
      const field = `as ${place}`;
      const before = (await redis.hget(keys.corrected(batch), field)) ?? '';
      const by = before === '' ? undefined : (JSON.parse(before) as RowOwner);
      if (by !== undefined && by.number !== owner.number && (await isAlive(by)))
        return { row: { batch, place }, target: row, by };
      claims.push({ batch, field, before, after: JSON.stringify(owner) });
    }
    return claims;
  }

  /** Keeps what a report says that a row became, where the ledger knows of no order that has it. Repeatable. */
  async function reported(owner: RowOwner, row: FixTarget): Promise<void> {
    const { batch, place } = await firstOf(row);
    if (!(await ownerOf(row))) await redis.hset(keys.corrected(batch), `as ${place}`, JSON.stringify(owner));
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

  return { remember, claim, reported, ownerOf };
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
