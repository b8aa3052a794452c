import type { Variables } from '../../config/variables.ts';
import { existingOf } from '../../ledger/adopt.ts';
import type { Known } from '../../ledger/entry.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { contentOf, createSeen, type Seen } from '../../ledger/seen.ts';
import type { Appearance } from '../../ledger/state-machine/appears.ts';
import { next } from '../../ledger/state-machine/next.ts';
import { digestOf } from '../../order/digest.ts';
import type { KeyOf } from '../../order/number-key.ts';
import { type CheckedOrder, createPager, type Order } from '../../order/order.ts';
import type { Problem } from '../../order/problem.ts';
import type { Store } from '../../redis/store.ts';
import { lookForReport } from '../../report/report.ts';
import { type ListTrouble, openApiList, troubleOf } from '../delivery/api-list.ts';
import type { OperatorContext } from '../operator-context.ts';

/**
 * What would become of the orders of a file. `unknown`: the ledger does not have them, and no list shows whether the API does.
 * `waiting`: they stay with an open dead letter of the same content.
 */
export type Preview = {
  new: number;
  unknown: number;
  duplicate: number;
  conflict: number;
  waiting: number;
  invalid: number;
  /** The first numbers in conflict. */
  conflicts: string[];
};

/** An order of the file and what would become of it. `order`: if valid. `isNew`: the ledger does not know its number. */
export type Verdict = {
  number: string;
  order: Order | undefined;
  digest: string;
  verdict: Exclude<keyof Preview, 'unknown' | 'conflicts'>;
  isNew: boolean;
  /** Of an order that is valid, but that another order holds. */
  problems?: readonly Problem[];
  /** The line of its first row. */
  line: number;
};

/**
 * Compares the orders of one file. `again`: it is a fix file, whose orders are sent deliberately. `mapping`: its digest.
 */
export type CompareFile = (
  facts: { again: boolean; mapping?: string | undefined },
  onVerdict?: (found: Verdict) => void,
) => {
  add(order: CheckedOrder): Promise<void>;
  done(): Promise<Preview>;
};

/** Compares orders with the ledger and the API's list. `trouble`: why the list does not show what is absent. */
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
  await using list = await openApiList(context, env);
  const trouble = await troubleOf(
    list.read((order) => listed.set(order.purchaseOrderNumber, existingOf(order).digest)),
  );
  return { trouble, file: createComparison(context, listed, trouble === undefined) };
}

/**
 * Builds the comparison with the ledger and the listed orders, by number. `isWhole`: the list shows all that the API has. Several
 * files are compared as if the first had been delivered.
 */
export function createComparison(
  { ledger, store, config }: ComparisonDeps,
  listed: Digests,
  isWhole: boolean,
): CompareFile {
  const key = store.keys.keyOf;
  const others = new Map(
    [...listed].map(([number, digest]) => [key(number), asSent(number, digest)]),
  );
  const verdictOf = createVerdicts(others, key);

  const seen = createSeen({ ...store, hasReport: lookForReport(config.reports.path) });

  return ({ again, mapping = '' }, onVerdict) => {
    const found: Preview = {
      new: 0,
      unknown: 0,
      duplicate: 0,
      conflict: 0,
      waiting: 0,
      invalid: 0,
      conflicts: [],
    };
    const pager = createPager(PAGE);

    async function addPage(page: readonly CheckedOrder[]): Promise<void> {
      const known = await ledger.lookup(page.map(({ number }) => number));
      const place = { batch: '', mapping, at: Date.now() };
      const before = again ? [] : await seen.find(page.map(contentOf), place);
      for (const [at, { number, ...one }] of page.entries()) {
        const order = one.valid ? one.order : undefined;
        const digest = order ? digestOf(order) : '';
        const of = known[at] ?? { kind: 'nothing' };
        const verdict = order
          ? verdictOf(order, digest, of, again, before[at])
          : staysAs(before[at]);
        found[verdict] += 1;
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
      async done() {
        await addPage(pager.rest());
        return isWhole ? found : { ...found, new: 0, unknown: found.new };
      },
    };
  };
}

/** An order of the list, or one of a file as if it had been delivered. */
function asSent(number: string, digest: string): Known {
  return { kind: 'accepted', compact: { number, digest, attempts: 0, at: 0, batchNo: 0 } };
}

const NOWHERE = { batch: '', batchNo: 0, ordinal: -1, place: { line: 0 }, job: '' };

/** Decides about valid orders one after another, as if the former had been delivered. */
function createVerdicts(others: ReadonlyMap<string, Known>, key: KeyOf) {
  const before = new Map<string, Known>();
  return (
    order: Order,
    digest: string,
    known: Known,
    isAgain: boolean,
    seen: Seen | undefined,
  ): Verdict['verdict'] => {
    const { purchaseOrderNumber: number } = order;
    const other = before.get(key(number)) ?? others.get(key(number));
    const arrival = { ...NOWHERE, order, digest };
    const event = { kind: 'appears', at: 0, arrival, isAgain, seen } as const;
    const verdict = verdictWith(next(other ?? known, event));
    if (verdict === 'new') before.set(key(number), asSent(number, digest));
    return verdict;
  };
}

type ComparisonDeps = {
  ledger: Pick<Ledger, 'lookup'>;
  store: Pick<Store, 'redis' | 'keys'>;
  config: Pick<OperatorContext['config'], 'reports'>;
};

/** What becomes of content that stays with a dead letter. */
const staysAs = (seen?: Seen) =>
  seen?.is === 'open' ? 'waiting' : seen?.is === 'settled' ? 'duplicate' : 'invalid';

function verdictWith(appearance: Appearance) {
  switch (appearance.kind) {
    case 'cancelled':
    case 'queue':
      return 'new';
    case 'duplicate':
    case 'join':
    case 'corrected':
    case 'mine':
      return 'duplicate';
    case 'conflict':
      return 'conflict';
    case 'seen':
      return staysAs(appearance);
    case 'repeat':
      return appearance.entry.state === 'conflict' ? 'conflict' : 'waiting';
  }
}
