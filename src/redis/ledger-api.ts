import { PoSyncError } from '../core/errors.ts';
import type { Numbers } from '../order/number-key.ts';
import type { Redis } from './connect.ts';
import type { Keys } from './keys.ts';

/** The API that the ledger of an environment is for, and what makes two spellings of a number one order. */
export type LedgerApi = { baseUrl: string; numbers: Numbers };

/** What a person says at a start: only the address changed, or an empty ledger begins. */
export type LedgerChange = 'sameApi' | 'newLedger';

type Deps = { redis: Redis; keys: Keys };

/** Keys that are removed in one step. */
const PAGE = 1_000;

/** Changes what the ledger is for, as a person says. Every other daemon of the environment must be stopped. */
export async function changeLedger(
  { redis, keys }: Deps,
  { baseUrl }: LedgerApi,
  change: LedgerChange,
): Promise<void> {
  if (change === 'sameApi') {
    await redis.hset(keys.identity, { baseUrl });
    return;
  }
  let cursor = '0';
  do {
    const [next, found] = await redis.scan(cursor, 'MATCH', `${keys.prefix}:*`, 'COUNT', PAGE);
    if (found.length > 0) await redis.del(...found);
    cursor = next;
  } while (cursor !== '0');
}

/** Throws PoSyncError `ledger-of-another-api` where the ledger is for another address, or compares numbers in another way. */
export function requireApi(
  environment: string,
  { baseUrl, numbers }: LedgerApi,
  known: { baseUrl?: string | undefined; numbers?: string | undefined },
): void {
  const was = { baseUrl: known.baseUrl ?? baseUrl, numbers: known.numbers ?? numbers };
  if (was.baseUrl === baseUrl && was.numbers === numbers) return;
  const moved = `if only the address of the API changed, start po-sync once with --same-api; `;
  throw new PoSyncError(
    'ledger-of-another-api',
    `The ledger of ${environment} is for baseUrl ${was.baseUrl} and numbers: ${was.numbers}.`,
    {
      remedy: `Set them again, or stop every daemon of ${environment} and then: ${was.numbers === numbers ? moved : ''}to begin an empty ledger, start it once with --new-ledger.`,
      facts: { environment, baseUrl: was.baseUrl, numbers: was.numbers },
    },
  );
}
