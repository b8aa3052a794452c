import { codeOf, PoSyncError } from '../core/errors.ts';
import { listOf, readLetters } from '../correct/read-as.ts';
import type { Entry } from '../ledger/entry.ts';
import {
  type LettersWithoutReport,
  lettersWithoutReport,
} from '../operate/batches/open-dead-letters.ts';
import { deadLetters } from '../operate/dead-letters/dead-letters.ts';
import { listTroubleText } from '../operate/delivery/api-list.ts';
import type { OperationContext } from '../operate/operation-context.ts';
import {
  findInDoubt,
  type Resolution,
  resolveOrder,
  setApart,
} from '../operate/orders/resolve-order.ts';
import type { LetterRow } from '../order/dead-letter.ts';
import { shellWords } from '../order/text.ts';
import type { FoundDeadLetter } from '../put-away/dead-letters-in-progress.ts';
import { addError, byWeight, type ErrorGroup, type ErrorGroups } from '../report/story.ts';
import { type FilterInput, readFilter } from './dead-letter-filter.ts';
import type { Act, Plan, Work } from './operation.ts';

/** All that match, as far as they are shown, and how all of them are grouped. */
export type Listed = {
  environment: string;
  letters: FoundDeadLetter[];
  total: number;
  groups: Group[];
  without: LettersWithoutReport[];
};

type Group = Pick<
  ErrorGroup,
  'kind' | 'signature' | 'code' | 'message' | 'count' | 'firstAt' | 'lastAt'
>;
type ListInput = FilterInput & { all: boolean };

async function list(
  { limit, all, ...input }: ListInput,
  usual: number,
  context: OperationContext,
): Promise<Listed> {
  const filter = { ...(await readFilter(input, context)), all };
  const { batch, kind, signature, orders, ids: named } = filter;
  const { environment } = context.config;
  const lists = await context.lists?.();
  // Other filters select by what only the report says.
  const isLacking = [kind, signature, orders, named].every((one) => one === undefined);
  const among = lists?.withLetters('done').keys();
  const without = isLacking ? await lettersWithoutReport(context, among, batch) : [];
  const most = limit ?? usual;
  const letters: FoundDeadLetter[] = [];
  // The lists have what is open; the reports of one batch are read at once.
  if (lists && !all && !batch && !orders && !named) {
    const { items } = lists.page({ kind, signature }, most);
    const ids = new Set(items.map(({ id }) => id));
    for await (const one of deadLetters({ all: false, ids, limit: ids.size }, context))
      letters.push(one);
    keepNewest(letters, most);
    return { environment, letters, without, ...lists.summary({ kind, signature }) };
  }
  const groups: ErrorGroups = new Map();
  let total = 0;
  for await (const letter of deadLetters(filter, context)) {
    addError(groups, letter);
    total += 1;
    if (letters.push(letter) >= 2 * most) keepNewest(letters, most);
  }
  keepNewest(letters, most);
  return { environment, letters, total, groups: byWeight(groups), without };
}

/** Those of the newest batches, the oldest of these first: what the lists have too. */
function keepNewest(letters: FoundDeadLetter[], most: number): void {
  const order = (a: string, b: string) => Number(a > b) - Number(a < b);
  letters.sort((a, b) => order(b.batch, a.batch)).splice(most);
  letters.sort((a, b) => order(a.batch, b.batch));
}

export const listed = (usual: number): Work<ListInput, Listed> => ({
  run: (input, context) => list(input, usual, context),
  json({ environment, letters, total, groups, without }) {
    const more = without.length > 0 ? { withoutReport: without } : {};
    return { environment, deadLetters: letters, total, groups: groupsJson(groups), ...more };
  },
});

function groupsJson(groups: readonly Group[]) {
  return groups.map((group) => {
    const { kind, signature, code, message, count, firstAt, lastAt } = group;
    return { kind, signature, code, message, count, firstAt, lastAt };
  });
}

export type Shown = FoundDeadLetter & { rows: readonly LetterRow[] };

export const shown: Work<{ id: string }, Shown> = {
  async run({ id }, context) {
    const filter = { batch: id.replace(/-\d+$/, ''), all: true };
    for await (const letter of deadLetters(filter, context))
      if (letter.id === id) return { ...letter, rows: await rowsOf(id, letter.batch, context) };
    throw new PoSyncError('dead-letter-unknown', `Dead letter ${id} not found.`, {
      remedy: 'Run po-sync dead-letters list --json to see their ids. Its report may have expired.',
      facts: { id },
    });
  },
  json: (letter) => letter,
};

async function rowsOf(id: string, batch: string, { config }: OperationContext) {
  try {
    for await (const one of readLetters(listOf(batch, config)))
      if (one.id === id) return one.rows ?? [];
  } catch (error) {
    // The report expired meanwhile.
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  return [];
}

type ResolveInput = { order: string; as: Resolution | 'other-order'; dryRun: boolean };
type ResolvePlan = Plan & { doubt?: { entry: Entry; as: Resolution } };

/**
 * Settles an order in doubt as the person found it at the API, or takes its number as a separate order. PoSyncError
 * `order-at-the-api`, `no-other-spelling`.
 */
export const resolve: Act<ResolveInput, ResolvePlan> = {
  async plan({ order, as, dryRun }, context) {
    const json = { order, as, dryRun };
    if (as === 'other-order') {
      const question = `Is ${order} another order than the one that the ledger has in another spelling?`;
      return { on: order, question, would: `${order} would be a separate order.`, json };
    }
    const entry = await findInDoubt(order, context.ledger, as);
    const check = await context.checkList(new Set([order]));
    // For a conflict, the list shows the other content: the person decides whether to send the order anyway.
    const isShown = check.listed?.has(order) === true;
    if (as === 'resend' && entry.state !== 'conflict' && isShown) throw isListed(order);
    return {
      on: order,
      question: QUESTIONS[as](order),
      would: `${order} would be ${RESULTS[as]}`,
      left: isShown ? '' : listTroubleText(check),
      json: { ...json, listCheck: check.trouble ?? 'ok' },
      doubt: { entry, as },
    };
  },
  async run({ on, json, doubt }, context) {
    if (doubt === undefined) {
      await setApart(on, context);
      const text = `${on} is a separate order. Bring its file again, or write send into _do of its rows in fix.xlsx.`;
      return { text, json };
    }
    await resolveOrder(doubt.entry, doubt.as, context);
    return { text: `${on} is ${RESULTS[doubt.as]}`, json };
  },
};

const RESULTS: Record<Resolution, string> = {
  accepted: 'settled as accepted; it is not sent again.',
  resend: 'queued to be sent again. If the API has it, it is created twice.',
};

const QUESTIONS: Record<Resolution, (order: string) => string> = {
  accepted: (order) => `Does the API have order ${order}? It will never be sent again.`,
  resend: (order) =>
    `Is order ${order} certainly not at the API? If the API has it, sending it again creates it twice.`,
};

function isListed(order: string): PoSyncError {
  const message = `The API's list contains order ${order}: sending it again would create it twice.`;
  return new PoSyncError('order-at-the-api', message, {
    remedy: `Run po-sync dead-letters resolve ${shellWords(order, '--as', 'accepted')}.`,
    facts: { order },
  });
}
