import type { ListedOrder } from '../api/list.ts';
import type { Compact } from '../ledger/entry.ts';
import { settledOrders } from '../ledger/retention.ts';
import type { Store } from '../redis/store.ts';
import { addShown, fingerprintOf } from './shown-numbers.ts';

type Place = Pick<Store, 'redis' | 'keys'>;

/**
 * When a list was read, in ledger time. `reach`: an order that the ledger has since then or longer must be among those that it
 * shows, if it lacks any; absent: since two settles before.
 */
type ReadAt = { from: number; settle: number; reach?: number | undefined };

/** What a list lacks of the orders that the ledger has as accepted; `young` need not be in it yet. */
type Compared = { accepted: number; young: number; lacked: string | undefined };

/**
 * Compares a complete list with all of the ledger, a page at a time. A list that shows an order and lacks one that po-sync created
 * later is not complete: `lacked` is the youngest such one. What is older than all that it shows may have been archived.
 */
export function compareLedger({ redis, keys }: Place) {
  const shown = new Set<number>();

  async function compare(
    { from, settle, reach }: ReadAt,
    onMissing: (order: Compact) => void = () => undefined,
  ): Promise<Compared> {
    const before = from - 2 * settle;
    let [accepted, young, oldestShown] = [0, 0, Number.POSITIVE_INFINITY];
    let youngest = { number: '', since: Number.NEGATIVE_INFINITY };
    for await (const one of settledOrders({ redis, keys })) {
      const { number, at, since = Number.NEGATIVE_INFINITY } = one;
      accepted += 1;
      if (shown.has(fingerprintOf(keys.keyOf(number)))) oldestShown = Math.min(oldestShown, at);
      else if (at >= before) young += 1;
      else {
        onMissing(one);
        if (since > youngest.since) youngest = { number, since };
      }
    }
    const isComplete = youngest.since < oldestShown && oldestShown <= (reach ?? before);
    const lacksNone = youngest.number === '';
    return { accepted, young, lacked: lacksNone || isComplete ? undefined : youngest.number };
  }

  return {
    take: ({ purchaseOrderNumber }: Pick<ListedOrder, 'purchaseOrderNumber'>) =>
      addShown(shown, keys.keyOf(purchaseOrderNumber)),
    compare,
  };
}
