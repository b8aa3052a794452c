import { decodeEntry, type Entry } from '../../src/ledger/entry.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { keysOf } from '../../src/redis/keys.ts';

/** The state of each unsettled order in the ledger of the environment `staging` at `baseUrl`, by its number. */
export async function ledgerStates(redis: string): Promise<Map<string, Entry['state']>> {
  const connection = await connectRedis(redis);
  try {
    const { prefix } = keysOf('staging');
    const keys = await connection.keys(`${prefix.replaceAll(/[{}]/g, '?')}:o:*`);
    const texts = keys.length === 0 ? [] : await connection.mget(keys);
    const entries = texts.flatMap((text) => (text === null ? [] : [decodeEntry(text)]));
    return new Map(entries.map(({ state, order }) => [order.purchaseOrderNumber, state]));
  } finally {
    connection.disconnect();
  }
}
