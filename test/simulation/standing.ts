import { decodeCompact, decodeEntry, type Entry } from '../../src/ledger/entry.ts';
import { KEYS } from './setting.ts';
import type { Store } from './store.ts';

/** What the ledger says of a number. */
export type Standing = { state: Entry['state'] | 'accepted' | 'rebuilt' | 'forgotten'; entry?: Entry };

export function standingOf(store: Store, number: string): Standing {
  const open = store.get(KEYS.open(number));
  if (open !== null) {
    const entry = decodeEntry(open);
    return { state: entry.state, entry };
  }
  const compact = store.hget(KEYS.settled(number), number);
  if (compact === null) return { state: 'forgotten' };
  return { state: decodeCompact(compact).batchNo === 0 ? 'rebuilt' : 'accepted' };
}
