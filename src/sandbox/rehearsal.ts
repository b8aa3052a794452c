import type { Exchanges } from './exchanges.ts';
import { type OrderRecord, recordPage } from './record-page.ts';
import type { SandboxEvent } from './sandbox-options.ts';

/** The path of the record, on the auth address. */
export const REHEARSAL_PATH = '/rehearsal';

/** The sandbox's own record of a rehearsal, against which a test can compare results. */
export type Rehearsal = {
  take(event: SandboxEvent): void;
  readonly exchanges: Exchanges;
  /** The record as JSON text, in pieces. */
  text(): Iterable<string>;
  /** The same for people: an HTML page that refreshes itself. */
  page(): string;
};

/**
 * Maximum number of calls of one kind, most entries of one order, and most orders in the record: the newest, so that it
 * stays small.
 */
const MOST_CALLS = 1_000;
const MOST_ENTRIES = 1_000;
const MOST_ORDERS = 200_000;

/** Creates an empty record, kept in memory only. */
export function createRehearsal(environment: string, exchanges: Exchanges): Rehearsal {
  const startedAt = Date.now();
  const orders = new Map<string, OrderRecord>();
  const counters = { calls: 0, received: 0, stored: 0, dropped: 0, crashed: 0, faults: 0 };
  const statuses: Record<string, number> = {};
  const tokens: { at: number; outcome: string }[] = [];
  const lists: { at: number; status: number; durationMs: number }[] = [];
  const faults: Record<string, number> = {};

  function answered(event: Extract<SandboxEvent, { type: 'answered' }>): void {
    if (event.path.startsWith(REHEARSAL_PATH)) return;
    counters.calls += 1;
    if (event.status === 0) counters.dropped += 1;
    const name = `${event.on} ${event.status === 0 ? 'dropped' : event.status}`;
    tally(statuses, name);
    if (event.on === 'list')
      keep(lists, { at: event.at, status: event.status, durationMs: event.durationMs }, MOST_CALLS);
  }

  return {
    take(event) {
      switch (event.type) {
        case 'received':
          counters.received += 1;
          keep(orderOf(orders, event.order).received, event.at, MOST_ENTRIES);
          return;
        case 'stored':
          counters.stored += 1;
          keep(orderOf(orders, event.order).stored, event.at, MOST_ENTRIES);
          return;
        case 'answered':
          answered(event);
          return;
        case 'token':
          keep(tokens, { at: event.at, outcome: event.outcome }, MOST_CALLS);
          return;
        case 'fault':
          counters.faults += 1;
          tally(faults, `${event.on} ${event.kind}`);
          if (event.order !== '')
            keep(orderOf(orders, event.order).faults, event.kind, MOST_ENTRIES);
          return;
        case 'crashed':
          counters.crashed += 1;
          return;
      }
    },
    exchanges,
    text: () =>
      textOf(
        {
          environment,
          startedAt,
          counters,
          statuses,
          faults,
          tokens,
          lists,
          exchanges: exchanges.last(),
        },
        orders,
      ),
    page: () =>
      recordPage({ environment, counters, statuses, orders, exchanges: exchanges.last() }),
  };
}

function orderOf(orders: Map<string, OrderRecord>, number: string): OrderRecord {
  const known = orders.get(number);
  if (known !== undefined) return known;
  const fresh = { received: [], stored: [], faults: [] };
  orders.set(number, fresh);
  const [oldest] = orders.keys();
  if (orders.size > MOST_ORDERS && oldest !== undefined) orders.delete(oldest);
  return fresh;
}

function keep<T>(all: T[], one: T, most: number): void {
  all.push(one);
  if (all.length > most) all.shift();
}

function tally(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** The record as JSON text: its head, then one piece per order. */
function* textOf(head: object, orders: ReadonlyMap<string, OrderRecord>): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"orders":{`;
  let comma = '';
  for (const [number, record] of orders) {
    yield `${comma}${JSON.stringify(number)}:${JSON.stringify(record)}`;
    comma = ',';
  }
  yield '}}';
}
