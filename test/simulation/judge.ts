import { decodeCompact, decodeEntry } from '../../src/ledger/entry.ts';
import { KEYS } from './machine.ts';
import { UNKNOWN_ARTICLE } from './partner-api.ts';
import type { World } from './world.ts';

/** What may never happen to an order, by the API's own record. */
export type Fault = 'double' | 'lost' | 'waits for ever' | 'falsely given up' | 'sent though refused' | 'miscounted';

/** What became of the orders of a world. */
export type Judgement = {
  orders: number;
  accepted: number;
  refused: number;
  failed: number;
  inDoubt: number;
  faults: { fault: Fault; number: string; detail: string }[];
};

/** Compares what the ledger says of each order with what the API stored. */
export function judge(world: World): Judgement {
  const { api, store, orders } = world;
  const judgement: Judgement = { orders: orders.length, accepted: 0, refused: 0, failed: 0, inDoubt: 0, faults: [] };
  const numbers = [...new Set(orders.map(({ number }) => number))];
  for (const number of numbers) {
    const times = api.counts.get(number) ?? 0;
    const state = stateOf(world, number);
    const found = faultOf(state, times);
    if (found) judgement.faults.push({ fault: found, number, detail: `${state}, stored ${times} times` });
    if (state === 'accepted' || state === 'refused' || state === 'failed' || state === 'inDoubt') judgement[state] += 1;
    if (times > 0 && orders.every((order) => order.number !== number || isBad(order))) {
      judgement.faults.push({ fault: 'sent though refused', number, detail: state });
    }
  }
  if (!world.ended) judgement.faults.push({ fault: 'waits for ever', number: '', detail: `${world.turns} turns` });
  for (const file of world.files.all) {
    // What Redis forgot after a file was put away is nobody's loss: its report tells it.
    if (file.doneAt <= (world.rolledBackAt ?? -1)) continue;
    const counted = Number(store.hget(KEYS.batch(file.batch), 'counted') ?? 0);
    const detail = `${counted} of ${file.orders.length}`;
    if (counted !== file.orders.length) judgement.faults.push({ fault: 'miscounted', number: file.batch, detail });
  }
  return judgement;
}

function isBad(order: World['orders'][number]): boolean {
  return order.valid && order.order.items.some(({ articleCode }) => articleCode === UNKNOWN_ARTICLE);
}

/** What the ledger says of an order; after a flush it may have forgotten one that its report told. */
function stateOf({ store }: World, number: string): string {
  const open = store.get(KEYS.open(number));
  if (open !== null) return decodeEntry(open).state;
  const compact = store.hget(KEYS.settled(number), number);
  if (compact !== null) return decodeCompact(compact).batchNo === 0 ? 'taken over' : 'accepted';
  return 'forgotten';
}

function faultOf(state: string, times: number): Fault | undefined {
  if (times > 1) return 'double';
  switch (state) {
    case 'accepted':
    case 'taken over':
      return times === 0 ? 'lost' : undefined;
    case 'refused':
    case 'failed':
      return times === 0 ? undefined : 'falsely given up';
    case 'inDoubt':
    case 'conflict':
    case 'forgotten':
      return undefined;
    default:
      return 'waits for ever';
  }
}
