import { count, orders } from '../core/format.ts';
import type { LeftOut } from '../correct/read-orders.ts';
import { isUnderWay } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** An order that is at the API or on its way there, and whose first row is on that line. */
export type LeftOutOrder = {
  purchaseOrderNumber: string;
  line: number;
  state: 'accepted' | 'inProgress';
};

/** Such orders of which a file has no row that the mapping keeps. `incomplete`: more were left out than were looked up. */
export type LeftOutOrders = { orders: number; first: LeftOutOrder[]; incomplete?: true };

/** Orders left out that are looked up, those that `report.json` has, and those that a text names. */
const LOOKED_UP = 100_000;
const LISTED = 1_000;
const NAMED = 20;

const PAGE = 500;

/** Collects what the mapping leaves out of one file, and finds the orders that it cannot stop any more. */
export function watchLeftOut({ lookup }: Pick<Ledger, 'lookup'>) {
  const rows = new Map<string, number>();
  let isFull = false;

  /** The orders that are accepted, in progress or in doubt. */
  async function sent(): Promise<LeftOutOrder[]> {
    const found: LeftOutOrder[] = [];
    const numbers = [...rows.keys()];
    for (let from = 0; from < numbers.length; from += PAGE) {
      const page = numbers.slice(from, from + PAGE);
      for (const [i, known] of (await lookup(page)).entries()) {
        const number = page[i] ?? '';
        const isAccepted = known.kind === 'accepted';
        if (!isAccepted && !isUnderWay(known)) continue;
        const state = isAccepted ? 'accepted' : 'inProgress';
        found.push({ purchaseOrderNumber: number, line: rows.get(number) ?? 0, state });
      }
    }
    return found;
  }

  return {
    add({ number, line }: LeftOut): void {
      if (number === '' || rows.has(number)) return;
      if (rows.size === LOOKED_UP) isFull = true;
      else rows.set(number, line);
    },
    /** The file has other rows of this order: what becomes of them says what is known of it. */
    keeps: (number: string): void => void rows.delete(number),
    sent,
    /** These orders for the report; undefined when there is nothing to say. */
    reported(found: readonly LeftOutOrder[]): LeftOutOrders | undefined {
      if (found.length === 0 && !isFull) return undefined;
      return {
        orders: found.length,
        first: found.slice(0, LISTED),
        ...(isFull && { incomplete: true }),
      };
    },
  };
}

/** What a person has to know: nothing else names these orders, and their supplier delivers them. */
export function leftOutTexts({ orders: number, first, incomplete }: LeftOutOrders): string[] {
  const named = first
    .slice(0, NAMED)
    .map(
      ({ purchaseOrderNumber, line, state }) =>
        `${purchaseOrderNumber} (line ${line}${state === 'accepted' ? '' : ', in progress'})`,
    );
  const more = number > named.length ? ` and ${count(number - named.length)} more` : '';
  const [was, them, they] = number === 1 ? ['was', 'it', 'it is'] : ['were', 'them', 'they are'];
  const state = first.every((one) => one.state === 'accepted')
    ? 'accepted earlier'
    : 'accepted earlier or in progress';
  const text = `${orders(number)} that the mapping leaves out ${was} ${state}: ${named.join(', ')}${more}. po-sync did not cancel ${them}: inform the supplier if ${they} not wanted.`;
  const rest = `The mapping leaves out more than ${orders(LOOKED_UP)}: the others were not looked up in the ledger.`;
  return [...(number === 0 ? [] : [text]), ...(incomplete ? [rest] : [])];
}
