import { allPauses } from '../../src/deliver/breaker-view.ts';
import { decodeCompact, decodeEntry, type Entry } from '../../src/ledger/entry.ts';
import { dueTime } from '../../src/ledger/ledger.ts';
import { LIST_INCOMPLETE } from '../../src/ledger/pause-cause.ts';
import { type Wait, waitOf } from '../../src/operate/orders/wait-of.ts';
import type { FileWait } from '../../src/order/file-wait.ts';
import { STICKY_ORDER } from './network.ts';
import type { Deeds } from './people.ts';
import { KEYS } from './setting.ts';
import { ledgerTime, type Store } from './store.ts';
import type { Weather } from './weather.ts';

/** What the ledger says of a number. */
export type Standing = {
  state: Entry['state'] | 'accepted' | 'rebuilt' | 'renumbered' | 'forgotten';
  entry?: Entry;
};

export function standingOf(store: Store, number: string): Standing {
  const open = store.get(KEYS.open(number));
  if (open !== null) {
    const entry = decodeEntry(open);
    return { state: entry.state, entry };
  }
  const key = KEYS.keyOf(number);
  const compact = store.hget(KEYS.settled(key), key);
  if (compact === null) return { state: 'forgotten' };
  const { batchNo, became } = decodeCompact(compact, key);
  if (became !== undefined) return { state: 'renumbered' };
  return { state: batchNo === 0 ? 'rebuilt' : 'accepted' };
}

/** Delivery waits for a list that never shows what it must, and says so. */
export function isStuckOnList(
  store: Store,
  {
    listKind,
    archiveAfter,
    stickyOrder,
  }: Pick<Weather, 'listKind' | 'archiveAfter' | 'stickyOrder'>,
  { wronglyConfirmed }: Pick<Deeds, 'wronglyConfirmed'>,
): boolean {
  const [list, first] = ['list', 'ledger-new'].map((of) => store.hget(KEYS.breaker, `hold:${of}`));
  const hold = list ?? first ?? '';
  if (listKind === 'limited') return hold !== '' || store.hget(KEYS.rebuild, 'why') !== null;
  const isWhole = listKind === 'all' || listKind === 'healed' || listKind.startsWith('paged');
  // An archive may take what the list showed before the order that must prove it was sent.
  const mayLack = !isWhole || archiveAfter < Number.POSITIVE_INFINITY;
  // An order that never gets through, and that a person sends again each time, has the turn.
  const isSticky = stickyOrder !== 'none' && hold.includes(`"turn":"${STICKY_ORDER}"`);
  const isWrong = wronglyConfirmed.size > 0;
  return (mayLack || isSticky || isWrong) && hold.includes(LIST_INCOMPLETE);
}

const HELD: FileWait = { code: 'volume', facts: { orders: 2, maxOrders: 1 } };

/** What `status` shows that an order waits for; undefined when it is settled. */
export function waitIn(store: Store, number: string): Wait | undefined {
  const { entry } = standingOf(store, number);
  if (entry === undefined) return undefined;
  const key = KEYS.keyOf(number);
  const score = (set: string) => store.ranked(set).find(([member]) => member === key)?.[1];
  return waitOf(entry, dueTime(score(KEYS.due) ?? score(KEYS.doubt) ?? 0), {
    now: ledgerTime(store, KEYS.identity),
    isServed: true,
    pauses: allPauses(Object.fromEntries(store.fields(KEYS.breaker))),
    held: new Map([...store.members(KEYS.held)].map((batch) => [batch, HELD])),
    slowUntil: Number(store.hget(KEYS.breaker, 'slowUntil') ?? 0),
    nextTurnAt: 0,
    list: { nextAt: 0 },
  });
}
