import { otherSpellingMessage } from '../../admit/order-guard.ts';
import { spelledElsewhere } from '../../operate/dead-letters/retry-dead-letters.ts';
import { sentAsOf } from '../../operate/orders/appearances.ts';
import { findInProgress, inProgressText, isElsewhere } from '../../operate/orders/in-progress.ts';
import { closingWord } from '../../order/closing-text.ts';
import type { DeadLetter } from '../../order/dead-letter.ts';
import { NUMBER_KNOWN, OTHER_SPELLING, SEND_AS_IT_IS } from '../../order/fixing.ts';
import { NOTHING_NEW } from '../../put-away/refused-before.ts';
import { withoutRemedy } from '../read-model/kept-letter.ts';
import type { DeadLetterRow, RowFilter } from '../read-model/letter-batch.ts';
import type { SettledRow } from '../read-model/settled-table.ts';
import type { ApiContext } from './api-context.ts';

/** Rows that are searched for orders in progress where a request selects only these: each costs a few calls of Redis. */
const LOOKED = 1_000;

/**
 * An open dead letter with the problem that its correction would have, where its number is known in another spelling, `other`,
 * since its file was read.
 */
export async function withOtherSpelling<Letter extends DeadLetter & { source: string }>(
  letter: Letter,
  base: ApiContext['base'],
): Promise<{ letter: Letter; other?: string }> {
  const { purchaseOrderNumber: value, closed, location, problems = [] } = letter;
  const isSaid = problems.some(({ code }) => code === OTHER_SPELLING || code === NUMBER_KNOWN);
  const [one] = closed || isSaid ? [] : await spelledElsewhere([letter], base);
  if (one === undefined) return { letter };
  const message = await otherSpellingMessage(value, one, base.batches);
  const { line, pointer } = location;
  const place = { line, ...(pointer !== undefined && { pointer }) };
  const others = problems.map((problem) => ({
    ...problem,
    message: problem.message.replace(SEND_AS_IT_IS, ''),
  }));
  const all = [...others, { ...place, field: '', code: OTHER_SPELLING, value, message }];
  return { letter: { ...letter, problems: all }, other: one.other };
}

/** Says of rows that their number is accepted or in progress in another spelling, since their file was read. */
export async function withOtherSpellings<Row extends DeadLetterRow>(
  { base }: ApiContext,
  rows: readonly Row[],
): Promise<Row[]> {
  const found = await spelledElsewhere(rows, base);
  return await Promise.all(
    rows.map(async (row, i) => {
      const one = found[i];
      if (one === undefined || row.already !== undefined) return row;
      const text = withoutRemedy(
        await otherSpellingMessage(row.purchaseOrderNumber, one, base.batches),
      );
      return { ...row, message: row.message.replace(SEND_AS_IT_IS, ''), already: text };
    }),
  );
}

/**
 * Says of rows that another file brought the order since, and that it is in progress, or that it was sent under another
 * number or is known in another spelling of it: no report says that.
 */
export async function withOrdersInProgress<Row extends DeadLetterRow>(
  api: ApiContext,
  rows: readonly Row[],
): Promise<Row[]> {
  const { base } = api;
  const [sent, spelled] = await Promise.all([sentAsOf(rows, base), withOtherSpellings(api, rows)]);
  return Promise.all(
    rows.map(async (row, i) => {
      const now = sent[i];
      if (now)
        return {
          ...row,
          already: `already sent as ${now.number}, from "${now.file ?? now.batch}"`,
        };
      if (row.already !== undefined) return row;
      const other = await findInProgress(row, base);
      if (other === undefined || !isElsewhere(row, other)) return spelled[i] ?? row;
      return {
        ...row,
        already: inProgressText(other, `"${other.file ?? other.batch}"`).replace(/\.$/, ''),
      };
    }),
  );
}

/** The filter with the rows that are in progress in another file, if it selects what another file has. */
export async function inProgressToo(api: ApiContext, filter: RowFilter): Promise<RowFilter> {
  if (!filter.already) return filter;
  const { marked } = await markedSince(api, filter);
  return { ...filter, inProgress: marked.map(({ id }) => id) };
}

/**
 * The rows that a filter selects and that another file has, as far as they are looked at. `isAll`: all were. `known`: those
 * that it had when their report was written, as they are now; `marked`: those that it has since.
 */
export async function markedSince(api: ApiContext, filter: RowFilter) {
  const { already: _, ...others } = filter;
  const { items, next } = await (await api.tables()).letters.page(others, LOOKED);
  const isKnown = ({ already }: DeadLetterRow) => already !== undefined;
  const unmarked = items.filter((row) => !isKnown(row));
  const marked = (await withOrdersInProgress(api, unmarked)).filter(isKnown);
  return { known: items.filter(isKnown), marked, isAll: next === undefined };
}

/** One page of rows, and what the next one is after. */
export type Page<Row> = (after?: string) => Promise<{ items: Row[]; next: string | undefined }>;

/** The rows of all pages. */
export async function* rowsOf<Row>(page: Page<Row>): AsyncGenerator<Row> {
  let after: string | undefined;
  do {
    const { items, next } = await page(after);
    yield* items;
    after = next;
  } while (after !== undefined);
}

/**
 * The files that had other items for an order, by its number, in words: `in conflict in wednesday.csv`. Without those that
 * only bring again what was refused.
 */
export async function conflictsOf(api: ApiContext): Promise<Map<string, string>> {
  const { letters } = await api.tables();
  const found = new Map<string, string>();
  const add = (
    { purchaseOrderNumber: number, kind, message }: DeadLetterRow | SettledRow,
    text: string,
  ) => {
    if (kind !== 'conflict' || message.includes(NOTHING_NEW)) return;
    found.set(
      number,
      [...(found.get(number)?.split('; ') ?? []), text].slice(0, MOST_NAMED).join('; '),
    );
  };
  const open: Page<DeadLetterRow> = (after) => letters.page({ kind: 'conflict' }, LOOKED, after);
  for await (const row of rowsOf(open)) add(row, `in conflict in ${row.file}`);
  const settled: Page<SettledRow> = (after) => letters.settledPage({}, LOOKED, after);
  for await (const row of rowsOf(settled)) {
    const { by, number } = row.closed;
    add(
      row,
      `conflict in ${row.file}, ${closingWord(by)}${number ? ` under another number, ${number}` : ''}`,
    );
  }
  return found;
}

/** Files that are named of one order. */
const MOST_NAMED = 3;
