import type { Batch } from '../../src/ledger/batches/batches.ts';
import type { CheckedOrder, Item } from '../../src/order/order.ts';
import type { Machine } from './machine.ts';
import { UNKNOWN_ARTICLE } from './partner-api.ts';
import type { Random } from './random.ts';
import { EPOCH, KEYS } from './setting.ts';
import { type Standing, standingOf } from './standing.ts';
import type { Store } from './store.ts';
import type { Weather } from './weather.ts';

/** A file that somebody dropped; it lies in `processing/` until its batch is finished. */
export type File = {
  batch: string;
  orders: readonly CheckedOrder[];
  reader: Machine | undefined;
  done: boolean;
  droppedAt: number;
  /** When its report was written, and what that says of each order. */
  doneAt: number;
  told: ReadonlyMap<string, Standing>;
};

export type Files = ReturnType<typeof openFiles>;

type Deps = {
  random: Random;
  weather: Weather;
  store: Store;
  machines: readonly Machine[];
  onTrouble: (error: unknown) => void;
};

const PAGE = 10;
/** How long a reader that stands still keeps its right to the file. */
const LEASE = 10_000;

/** The inbox of a world: files are read by whoever comes first, and again when their reader died or Redis forgot them. */
export function openFiles({ random, weather, store, machines, onTrouble }: Deps) {
  const orders = makeOrders(weather, random);
  const half = random.chance(0.5) ? orders.length : Math.ceil(orders.length / 2);
  const later = random.chance(0.5) ? random.between(0, weather.calmAt) : 0;
  const files: File[] = [orders.slice(0, half), orders.slice(half)]
    .filter((some) => some.length > 0)
    .map((some, i) => ({
      batch: `b${i + 1}`,
      reader: undefined,
      done: false,
      droppedAt: i * later,
      doneAt: 0,
      told: new Map(),
      orders: some.map((order, ordinal) => ({ ...order, ordinal })),
    }));

  /** Finds what is to be read or put away. */
  function look(): void {
    for (const file of files) {
      if (file.done || file.droppedAt > store.now() - EPOCH) continue;
      if (store.members(KEYS.finished).has(file.batch)) putAway(file);
      else if (mustBeRead(file)) read(file);
    }
  }

  /** Not read to its end yet, or forgotten by Redis; and nobody alive and awake has it in hand. */
  function mustBeRead({ batch, reader }: File): boolean {
    if (reader?.host.alive && reader.host.frozenUntil < store.now() - EPOCH + LEASE) return false;
    const key = KEYS.batch(batch);
    return store.hget(key, 'batch') === null || store.hget(key, 'state') === 'reading';
  }

  function read(file: File): void {
    const reader = random.pick(machines);
    if (!reader.isUp()) return;
    file.reader = reader;
    admitAll(file, reader)
      .catch(onTrouble)
      .finally(() => {
        if (file.reader === reader) file.reader = undefined;
      });
  }

  async function admitAll({ batch, orders }: File, reader: Machine): Promise<void> {
    const { batches, admit } = await reader.intake();
    const claimed = { batch, source: 'inbox', kind: 'inbox', name: `${batch}.csv`, path: '/none' } as const;
    const begun: Batch = await batches.begin(claimed, 0);
    const file = { records: orders.length, isFixFile: false };
    for (let i = 0; i < orders.length; i += PAGE) {
      await admit(begun, orders.slice(i, i + PAGE), file, new AbortController().signal);
    }
    await batches.admitted(batch, orders.length);
  }

  /** The report is written: what the ledger says of each order now is what people are told. */
  function putAway(file: File): void {
    file.done = true;
    file.doneAt = store.now() - EPOCH;
    file.told = new Map(file.orders.map(({ number }) => [number, standingOf(store, number)]));
    store.hset(KEYS.batch(file.batch), 'state', 'done');
    store.members(KEYS.finished).delete(file.batch);
  }

  return {
    orders,
    look,
    all: files as readonly File[],
    allDone: () => files.every(({ done }) => done),
    isReading: () => files.some(({ done, reader }) => !done && reader !== undefined),
  };
}

/** Mostly good orders; a few that the API refuses, and a few numbers that come twice. */
function makeOrders({ orders: count, rollback }: Weather, random: Random): CheckedOrder[] {
  const contents = rollback === 'none' ? 2 : 1;
  const refused = random.chance(0.3) ? 0.1 : 0;
  const twice = random.chance(0.3) ? 0.1 : 0;
  return Array.from({ length: count }, (_, i) => {
    const number = `PO-${i > 0 && random.chance(twice) ? random.below(i) : i}`;
    const articleCode = random.chance(refused) ? UNKNOWN_ARTICLE : 'A-1';
    return orderOf(number, i, [{ articleCode, quantity: 1 + random.below(contents) }]);
  });
}

function orderOf(number: string, ordinal: number, items: Item[]): CheckedOrder {
  const order = { purchaseOrderNumber: number, orderState: 'NEW', items } as const;
  return { ordinal, number, place: { line: ordinal + 2 }, records: [], valid: true, order };
}
