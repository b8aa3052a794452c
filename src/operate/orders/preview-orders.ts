import type { ListedOrder } from '../../api/list.ts';
import type { Variables } from '../../config/variables.ts';
import { PoSyncError } from '../../core/errors.ts';
import { isSameContent, UNSHOWN } from '../../ledger/entry.ts';
import { admit, type Known } from '../../ledger/transitions/admission.ts';
import { digestOf } from '../../order/digest.ts';
import { type CheckedOrder, createPager, type ValidOrder } from '../../order/order.ts';
import { openApiList, withoutStop } from '../delivery/api-list.ts';
import type { OperatorContext } from '../operator-context.ts';

/** What would become of the orders of a file. `waiting`: a dead letter with the same content waits for a person. */
export type Preview = { new: number; duplicate: number; conflict: number; waiting: number; invalid: number } & {
  /** The first numbers in conflict. */
  conflicts: string[];
};

/** Compares orders with the ledger and the API's list. `trouble`: why the list could not be read. */
export type Previewer = {
  trouble: string | undefined;
  /** `again`: the file is a fix file, whose orders are sent deliberately. */
  file(facts: { again: boolean }): { add(order: CheckedOrder): Promise<void>; done(): Promise<Preview> };
};

const PAGE = 500;
const CONFLICTS_SHOWN = 20;

/** Digests by number. */
type Digests = Map<string, string>;

/**
 * Reads the API's list and builds the comparison. It changes nothing and sends no order. Several files are compared as
 * if the first had been delivered. Throws like `openApiList` if the credentials are missing.
 */
export async function createPreviewer(context: OperatorContext, env: Variables): Promise<Previewer> {
  const listed: Digests = new Map();
  const trouble = await readList(listed, context, env);
  const before: Digests = new Map();

  return {
    trouble,
    file({ again }) {
      const found: Preview = { new: 0, duplicate: 0, conflict: 0, waiting: 0, invalid: 0, conflicts: [] };
      const pager = createPager(PAGE);
      return {
        async add(order) {
          for (const page of pager.add(order)) await addPage(page, again, found);
        },
        async done() {
          await addPage(pager.rest(), again, found);
          return found;
        },
      };
    },
  };

  async function addPage(page: readonly CheckedOrder[], again: boolean, found: Preview): Promise<void> {
    const valid = page.filter((one): one is ValidOrder => one.valid);
    found.invalid += page.length - valid.length;
    const known = await context.ledger.lookup(valid.map(({ number }) => number));
    for (const [i, { number, order }] of valid.entries()) {
      const verdict = verdictOf(number, digestOf(order), known[i] ?? { kind: 'nothing' }, again);
      found[verdict] += 1;
      if (verdict === 'conflict' && found.conflicts.length < CONFLICTS_SHOWN) found.conflicts.push(number);
    }
  }

  function verdictOf(number: string, digest: string, known: Known, again: boolean) {
    const other = before.get(number) ?? listed.get(number);
    if (other !== undefined) return isSameContent(other, digest) ? 'duplicate' : 'conflict';
    const admission = admit(known, { digest, batch: '', ordinal: -1, again, fromExport: false });
    switch (admission.kind) {
      case 'cancelled':
      case 'queue':
        before.set(number, digest);
        return 'new';
      case 'duplicate':
      case 'follow':
      case 'corrected':
      case 'mine':
        return 'duplicate';
      case 'conflict':
        return 'conflict';
      case 'repeat':
        return admission.entry.state === 'conflict' ? 'conflict' : 'waiting';
    }
  }
}

/** Returns why the list could not be read. */
async function readList(listed: Digests, context: OperatorContext, env: Variables): Promise<string | undefined> {
  const add = ({ purchaseOrderNumber, items }: ListedOrder) =>
    void listed.set(purchaseOrderNumber, items === undefined ? UNSHOWN : digestOf({ items }));
  try {
    await using list = await openApiList(context, env);
    const end = await list.read(add);
    return end.kind === 'complete' ? undefined : withoutStop(end.said.message);
  } catch (error) {
    if (!(error instanceof PoSyncError) || error.code === 'interrupted' || error.code.startsWith('secret-'))
      throw error;
    return withoutStop(error.message);
  }
}
