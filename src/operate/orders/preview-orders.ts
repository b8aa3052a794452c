import { type Admission, admit } from '../../admit/admission.ts';
import type { Variables } from '../../config/variables.ts';
import { existingOf } from '../../ledger/adopt.ts';
import type { Batches } from '../../ledger/batches/batches.ts';
import type { Known } from '../../ledger/entry.ts';
import { isSameContent } from '../../ledger/entry.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { isUnderWay } from '../../ledger/row-claims.ts';
import { digestOf } from '../../order/digest.ts';
import { type CheckedOrder, createPager, type Order } from '../../order/order.ts';
import type { LeftOut } from '../../parse/format.ts';
import { type LeftOutOrders, watchLeftOut } from '../../report/left-out.ts';
import { tryApiList } from '../delivery/api-list.ts';
import type { OperatorContext } from '../operator-context.ts';

/** What would become of the orders of a file. `waiting`: a dead letter with the same content waits for a person. */
export type Preview = { new: number; duplicate: number; conflict: number; waiting: number; invalid: number } & {
  /** The first numbers in conflict. */
  conflicts: string[];
  underWay?: UnderWay;
  /** Of the invalid orders, those whose number is accepted, listed or in progress, and the first of these numbers. */
  invalidKnown?: { orders: number; numbers: string[] };
  /** Orders that `skipWhere` leaves out although they are accepted, listed or in progress. */
  leftOut?: LeftOutOrders;
};

/** An order of the file and what would become of it. `order`: if valid. `isNew`: the ledger does not know its number. */
export type Verdict = {
  number: string;
  order: Order | undefined;
  digest: string;
  verdict: Exclude<keyof Preview, 'conflicts' | 'underWay' | 'invalidKnown' | 'leftOut'>;
  isNew: boolean;
  /** The line of its first row. */
  line: number;
};

/** Compares the orders of one file. `again`: it is a fix file, whose orders are sent deliberately. */
export type CompareFile = (
  facts: { again: boolean },
  onVerdict?: (found: Verdict) => void,
) => { add(order: CheckedOrder): Promise<void>; leftOut(one: LeftOut): void; done(): Promise<Preview> };

/** Compares orders with the ledger and the API's list. `trouble`: why the list could not be read. */
export type Previewer = { trouble: string | undefined; file: CompareFile };

const PAGE = 500;
const CONFLICTS_SHOWN = 20;

/** Digests by number. */
type Digests = Map<string, string>;

/**
 * Reads the API's list and builds the comparison. It changes nothing and sends no order. Throws like `openApiList` if the
 * credentials are missing.
 */
export async function createPreviewer(context: OperatorContext, env: Variables): Promise<Previewer> {
  const listed: Digests = new Map();
  const trouble = await tryApiList(context, env, (order) => {
    listed.set(order.purchaseOrderNumber, existingOf(order).digest);
  });
  return { trouble, file: createComparison(context, listed) };
}

/**
 * Builds the comparison with the ledger and the listed orders, by number. Several files are compared as if the first had
 * been delivered.
 */
export function createComparison(
  { ledger, batches }: { ledger: Pick<Ledger, 'lookup'>; batches?: Parameters<typeof underWayOf>[1] },
  listed: ReadonlyMap<string, string>,
): CompareFile {
  const before: Digests = new Map();

  function verdictOf(number: string, digest: string, known: Known, again: boolean) {
    const other = before.get(number) ?? listed.get(number);
    if (other !== undefined) return isSameContent(other, digest) ? 'duplicate' : 'conflict';
    const admission = admit(known, { digest, batch: '', ordinal: -1, again, fromExport: false });
    const verdict = verdictWith(admission);
    if (verdict === 'new') before.set(number, digest);
    return verdict;
  }

  return ({ again }, onVerdict) => {
    const found: Preview = { new: 0, duplicate: 0, conflict: 0, waiting: 0, invalid: 0, conflicts: [] };
    const pager = createPager(PAGE);
    const underWay: string[] = [];
    const knownNumbers: string[] = [];
    const sent = new Set<string>();
    const watch = watchLeftOut(ledger);

    async function addPage(page: readonly CheckedOrder[]): Promise<void> {
      const known = await ledger.lookup(page.map(({ number }) => number));
      for (const [at, { number, ...one }] of page.entries()) {
        const order = one.valid ? one.order : undefined;
        const digest = order ? digestOf(order) : '';
        const of = known[at] ?? { kind: 'nothing' };
        const isSent = of.kind === 'accepted' || isUnderWay(of) || listed.has(number);
        const isDone = !one.valid && isSentAndDone(one.ifWanted, of, listed.get(number));
        if (!order && !isDone && isSent) knownNumbers.push(number);
        if (isSent) sent.add(number);
        const verdict = order ? verdictOf(number, digest, of, again) : isDone ? 'duplicate' : 'invalid';
        found[verdict] += 1;
        if (verdict === 'duplicate' && isUnderWay(of)) underWay.push(of.entry.batch);
        if (verdict === 'conflict' && found.conflicts.length < CONFLICTS_SHOWN) found.conflicts.push(number);
        onVerdict?.({ number, order, digest, verdict, isNew: of.kind === 'nothing', line: one.place.line });
      }
    }

    return {
      async add(order) {
        for (const page of pager.add(order)) await addPage(page);
      },
      leftOut: watch.add,
      async done() {
        await addPage(pager.rest());
        const others = await underWayOf(underWay, batches);
        const leftOut = watch.reported((await watch.sent(listed)).filter((one) => !sent.has(one.purchaseOrderNumber)));
        const more = { ...(others && { underWay: others }), ...(leftOut && { leftOut }) };
        return { ...found, ...more, ...knownAmong(knownNumbers) };
      },
    };
  };
}

/** Whether an order that the file shows as done was sent before with this content. */
function isSentAndDone(ifWanted: Order | undefined, known: Known, inList: string | undefined): boolean {
  const there = known.kind === 'accepted' ? known.compact.digest : inList;
  return ifWanted !== undefined && there !== undefined && isSameContent(there, digestOf(ifWanted));
}

function verdictWith(admission: Admission) {
  switch (admission.kind) {
    case 'cancelled':
    case 'queue':
      return 'new';
    case 'duplicate':
    case 'follow':
    case 'corrected':
    case 'mine':
      return 'duplicate';
    case 'conflict':
      return 'conflict';
    case 'waits':
      return 'waiting';
    case 'repeat':
      return admission.entry.state === 'conflict' ? 'conflict' : 'waiting';
  }
}

function knownAmong(numbers: readonly string[]): Pick<Preview, 'invalidKnown'> {
  return numbers.length === 0
    ? {}
    : { invalidKnown: { orders: numbers.length, numbers: numbers.slice(0, CONFLICTS_SHOWN) } };
}

/**
 * Orders of a file that other files are about to send, and these files. `unread`: files that are not read to their end:
 * their other orders are not known yet.
 */
export type UnderWay = { orders: number; files: string[]; unread: string[] };

/** `waiting`: the batch of each order that waits. Undefined where there is nothing to say. */
export async function underWayOf(
  waiting: readonly string[],
  batches: Pick<Batches, 'underWay'> | undefined,
): Promise<UnderWay | undefined> {
  const all = (await batches?.underWay()) ?? [];
  const names = new Set(waiting);
  const files = all.flatMap(({ batch, name }) => (names.has(batch) ? [name] : []));
  const unread = all.flatMap(({ waitsAfter, name }) => (waitsAfter === undefined ? [] : [name]));
  return waiting.length + unread.length === 0 ? undefined : { orders: waiting.length, files, unread };
}

/** What a preview cannot know about a file whose reading waits. */
export function unreadText(name: string): string {
  return `${name} is not read to its end: orders that it has too count as new here. Each is sent once.`;
}
