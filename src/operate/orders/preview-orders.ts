import type { Variables } from '../../config/variables.ts';
import type { LeftOut } from '../../correct/read-orders.ts';
import { existingOf } from '../../ledger/adopt.ts';
import type { Batches } from '../../ledger/batches/batches.ts';
import type { Known } from '../../ledger/entry.ts';
import { isUnderWay } from '../../ledger/entry.ts';
import {
  createKnownInvalid,
  resultsShownBefore,
  wereCorrected,
} from '../../ledger/known-invalid.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Appearance } from '../../ledger/state-machine/appears.ts';
import { next } from '../../ledger/state-machine/next.ts';
import { digestOf, fingerprintOf } from '../../order/digest.ts';
import { type KeyOf, keyOf } from '../../order/number-key.ts';
import { type CheckedOrder, createPager, type Order } from '../../order/order.ts';
import { KNOWN_SETTLED } from '../../order/outcome.ts';
import type { Problem } from '../../order/problem.ts';
import type { Store } from '../../redis/store.ts';
import { type LeftOutOrders, watchLeftOut } from '../../report/left-out.ts';
import { isNameless } from '../../report/story.ts';
import { type ListTrouble, tryApiList } from '../delivery/api-list.ts';
import type { OperatorContext } from '../operator-context.ts';

/** What would become of the orders of a file. `waiting`: a dead letter with the same content waits for a person. */
export type Preview = {
  new: number;
  duplicate: number;
  conflict: number;
  waiting: number;
  invalid: number;
} & {
  /** The first numbers in conflict. */
  conflicts: string[];
  underWay?: UnderWay;
  /** Of the invalid orders, those whose number is accepted, listed or in progress, and the first of these numbers. */
  invalidKnown?: { orders: number; numbers: string[] };
  /** Orders that `the mapping` leaves out although they are accepted, listed or in progress. */
  leftOut?: LeftOutOrders;
  /** Of the duplicates, those of an export that an earlier version had: not sent, because they wait for a person or were settled. */
  knownBefore?: { waiting: number; settled: number; numbers: string[] };
  /** How many of the orders are rows without an order number. */
  nameless?: number;
};

/** An order of the file and what would become of it. `order`: if valid. `isNew`: the ledger does not know its number. */
export type Verdict = {
  number: string;
  order: Order | undefined;
  digest: string;
  verdict: Exclude<
    keyof Preview,
    'conflicts' | 'underWay' | 'invalidKnown' | 'leftOut' | 'knownBefore' | 'nameless'
  >;
  isNew: boolean;
  /** Of an order that is valid, but that another order holds. */
  problems?: readonly Problem[];
  /** The line of its first row. */
  line: number;
};

/**
 * Compares the orders of one file. `again`: it is a fix file, whose orders are sent deliberately. `exportName`: the export that it is a version of.
 */
export type CompareFile = (
  facts: { again: boolean; exportName?: string | undefined },
  onVerdict?: (found: Verdict) => void,
) => {
  add(order: CheckedOrder): Promise<void>;
  leftOut(one: LeftOut): void;
  done(): Promise<Preview>;
};

/** Compares orders with the ledger and the API's list. `trouble`: why the list could not be read. */
export type Previewer = { trouble: ListTrouble | undefined; file: CompareFile };

const PAGE = 500;
const CONFLICTS_SHOWN = 20;

/** Digests by number. */
type Digests = ReadonlyMap<string, string>;

/**
 * Reads the API's list and builds the comparison. It changes nothing and sends no order. Throws like `openApiList` if the
 * credentials are missing.
 */
export async function createPreviewer(
  context: OperatorContext,
  env: Variables,
): Promise<Previewer> {
  const listed = new Map<string, string>();
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
  { ledger, ...deps }: { ledger: Pick<Ledger, 'lookup'> } & ComparisonDeps,
  listed: Digests,
): CompareFile {
  const key = deps.store?.keys.keyOf ?? keyOf;
  const others = new Map(
    [...listed].map(([number, digest]) => [key(number), asSent(number, digest)]),
  );
  const verdictOf = createVerdicts(others, key);

  return ({ again, exportName }, onVerdict) => {
    const shownBefore = createShownBefore(deps, again ? undefined : exportName);
    const found: Preview = {
      new: 0,
      duplicate: 0,
      conflict: 0,
      waiting: 0,
      invalid: 0,
      conflicts: [],
    };
    const pager = createPager(PAGE);
    const underWay: string[] = [];
    const knownNumbers: string[] = [];
    const sent = new Set<string>();
    const watch = watchLeftOut(ledger);

    async function addPage(page: readonly CheckedOrder[]): Promise<void> {
      const known = await ledger.lookup(page.map(({ number }) => number));
      const codes = await shownBefore.codesOf(page);
      for (const [at, { number, ...one }] of page.entries()) {
        const order = one.valid ? one.order : undefined;
        const digest = order ? digestOf(order) : '';
        const of = known[at] ?? { kind: 'nothing' };
        const isSent = of.kind === 'accepted' || isUnderWay(of) || others.has(key(number));
        if (isSent) sent.add(number);
        const ends = codes[at] ?? {};
        const [verdict, code] = order
          ? verdictOf(order, digest, of, again, ends)
          : verdictOfInvalid(ends);
        if (code !== undefined) shownBefore.count(number, code);
        if (verdict === 'invalid' && isSent) knownNumbers.push(number);
        found[verdict] += 1;
        const isRow = isNameless({ purchaseOrderNumber: number, location: one.place });
        if (isRow) found.nameless = (found.nameless ?? 0) + 1;
        if (verdict === 'duplicate' && isUnderWay(of)) underWay.push(of.entry.batch);
        if (verdict === 'conflict' && found.conflicts.length < CONFLICTS_SHOWN)
          found.conflicts.push(number);
        onVerdict?.({
          number,
          order,
          digest,
          verdict,
          isNew: of.kind === 'nothing',
          line: one.place.line,
        });
      }
    }

    return {
      async add(order) {
        for (const page of pager.add(order)) await addPage(page);
      },
      leftOut: watch.add,
      async done() {
        await addPage(pager.rest());
        const others = await underWayOf(underWay, deps.batches);
        const leftOut = watch.reported(
          (await watch.sent(listed)).filter((one) => !sent.has(one.purchaseOrderNumber)),
        );
        const more = { ...(others && { underWay: others }), ...(leftOut && { leftOut }) };
        return { ...found, ...more, ...knownAmong(knownNumbers), ...shownBefore.found() };
      },
    };
  };
}

type Judged = [verdict: Verdict['verdict'], code?: string];

/** An order of the list, or one of a file as if it had been delivered. */
function asSent(number: string, digest: string): Known {
  return { kind: 'accepted', compact: { number, digest, attempts: 0, at: 0, batchNo: 0 } };
}

const NOWHERE = { batch: '', batchNo: 0, ordinal: -1, place: { line: 0 }, job: '' };

/** Decides about valid orders one after another, as if the former had been delivered. */
function createVerdicts(others: ReadonlyMap<string, Known>, key: KeyOf) {
  const before = new Map<string, Known>();
  return (order: Order, digest: string, known: Known, isAgain: boolean, ends: Ends): Judged => {
    const { purchaseOrderNumber: number } = order;
    const other = before.get(key(number)) ?? others.get(key(number));
    const arrival = { ...NOWHERE, order, digest };
    const verdict = verdictWith(next(other ?? known, { kind: 'appears', at: 0, arrival, isAgain }));
    const code =
      verdict === 'new' ? ends.corrected : verdict === 'duplicate' ? undefined : ends.shown;
    if (code !== undefined) return ['duplicate', code];
    if (verdict === 'new') before.set(key(number), asSent(number, digest));
    return [verdict];
  };
}

function verdictOfInvalid({ shown }: Ends): Judged {
  return shown === undefined ? ['invalid'] : ['duplicate', shown];
}

/** The code of an order of an export that would be sent but was corrected, or that would need a person but did so before. */
type Ends = { corrected?: string | undefined; shown?: string | undefined };

type ComparisonDeps = {
  batches: Pick<Batches, 'underWay' | 'find' | 'nameOf'>;
  store?: Pick<Store, 'redis' | 'keys'>;
};

/** Finds orders that an export showed before, so that its new version does not send them (docs/files.md). */
function createShownBefore({ batches, store }: ComparisonDeps, exportName: string | undefined) {
  const found = { waiting: 0, settled: 0, numbers: [] as string[] };
  return {
    async codesOf(page: readonly CheckedOrder[]): Promise<Ends[]> {
      if (exportName === undefined || store === undefined) return [];
      const deps = { store, batches };
      const asked = page.map((one) => {
        return {
          number: one.number,
          fingerprint: one.valid ? digestOf(one.order) : fingerprintOf(one.records),
        };
      });
      const corrected = await wereCorrected(exportName, asked, deps);
      const shown = await createKnownInvalid(store).wereKnown(exportName, asked);
      const codes = (await resultsShownBefore(asked, 0, deps)).map(({ code }) => code);
      return codes.map((code, i) => ({
        ...(corrected[i] && { corrected: code }),
        ...(shown[i] && { shown: code }),
      }));
    },
    count(number: string, code: string): void {
      found[code === KNOWN_SETTLED ? 'settled' : 'waiting'] += 1;
      if (found.numbers.length < CONFLICTS_SHOWN) found.numbers.push(number);
    },
    found: (): Pick<Preview, 'knownBefore'> =>
      found.waiting + found.settled > 0 ? { knownBefore: found } : {},
  };
}

function verdictWith(appearance: Appearance) {
  switch (appearance.kind) {
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
    case 'repeat':
      return appearance.entry.state === 'conflict' ? 'conflict' : 'waiting';
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
async function underWayOf(
  waiting: readonly string[],
  batches: Pick<Batches, 'underWay'>,
): Promise<UnderWay | undefined> {
  const all = await batches.underWay();
  const names = new Set(waiting);
  const files = all.flatMap(({ batch, name }) => (names.has(batch) ? [name] : []));
  const unread = all.flatMap(({ waitsAfter, name }) => (waitsAfter === undefined ? [] : [name]));
  return waiting.length + unread.length === 0
    ? undefined
    : { orders: waiting.length, files, unread };
}

/** What a preview cannot know about a file whose reading waits. */
export function unreadText(name: string): string {
  return `${name} is not read to its end: orders that it has too count as new here. Each is sent once.`;
}
