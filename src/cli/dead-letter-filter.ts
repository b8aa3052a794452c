import type { Config } from '../config/config.ts';
import { PoSyncError } from '../core/errors.ts';
import { count } from '../core/format.ts';
import { checkFilter, type DeadLetterFilter } from '../operate/dead-letters/dead-letters.ts';
import type { OperatorContext } from '../operate/operator-context.ts';
import { canBeOfSource } from '../order/batch.ts';
import type { DeadLetterKind } from '../order/outcome.ts';
import type { FoundDeadLetter } from '../put-away/dead-letters-in-progress.ts';
import type { Since } from './commands/definitions/command-definition.ts';
import type { CommonArgs } from './load-config.ts';

/** The filters of `dead-letters` as entered. */
export type DeadLetterArgs = CommonArgs & {
  batch?: string;
  kind?: string;
  signature?: string;
  since?: Since;
  order?: readonly string[];
  limit?: number;
};

/** The arguments of a command that changes something: filters, confirmation and dry run. */
export type ActingArgs = DeadLetterArgs & { yes: boolean; dryRun: boolean };

/** Spelled as in the reports. */
export const KINDS: readonly DeadLetterKind[] = [
  'invalid',
  'conflict',
  'refused',
  'failed',
  'inDoubt',
];

/**
 * Reads the filters, which select open dead letters.
 * Throws PoSyncError `kind-unknown`, and those of `checkFilter`.
 */
export async function deadLetterFilter(
  { batch, kind, signature, since, order, limit }: DeadLetterArgs,
  context: OperatorContext,
): Promise<DeadLetterFilter> {
  const known = KINDS.find((one) => one.toLowerCase() === kind?.toLowerCase());
  if (kind !== undefined && known === undefined) throw unknownKind(kind);
  const filter: DeadLetterFilter = {
    all: false,
    ...(batch === undefined ? {} : { batch }),
    ...(known === undefined ? {} : { kind: known }),
    ...(signature === undefined ? {} : { signature }),
    ...(since === undefined ? {} : { since: since(context.clock.now()) }),
    ...(order === undefined ? {} : { orders: new Set(order) }),
    ...(limit === undefined ? {} : { limit }),
  };
  return checkFilter(filter, context);
}

/** Whether a filter selects dead letters; `--limit` does not. */
export function hasFilter({ batch, kind, signature, since, order }: DeadLetterArgs): boolean {
  return [batch, kind, signature, since, order].some((one) => one !== undefined);
}

/** What an action is recorded as done to; empty for all. */
export function selectedText({ orders, batch }: DeadLetterFilter): string {
  const [first = '', ...more] = orders ?? [];
  if (more.length > 9) return `${first} and ${more.length} more`;
  return orders === undefined ? (batch ?? '') : [first, ...more].join(', ');
}

function unknownKind(kind: string): PoSyncError {
  return new PoSyncError('kind-unknown', `Unknown kind of dead letter: ${kind}.`, {
    remedy: `Use one of ${KINDS.join(', ')}.`,
    facts: { kind },
  });
}

/** How often each verdict occurred. */
export type Tally<Verdict extends string> = {
  add(verdict: Verdict): void;
  counts(): Partial<Record<Verdict, number>>;
  total(): number;
};

export function tallyOf<Verdict extends string>(): Tally<Verdict> {
  const counts: Partial<Record<Verdict, number>> = {};
  let total = 0;
  return {
    add(verdict) {
      counts[verdict] = (counts[verdict] ?? 0) + 1;
      total += 1;
    },
    counts: () => ({ ...counts }),
    total: () => total,
  };
}

/** Whether an open dead letter is of an earlier version of an export whose newer one is listed, too: a filter may leave that out. */
export function olderVersions(
  { batch, signature }: Partial<DeadLetterFilter>,
  { sources }: Pick<Config, 'sources'>,
) {
  const exports = new Set(sources.flatMap(({ name, type }) => (type === 'export' ? [name] : [])));
  const isComplete = batch === undefined && signature === undefined;
  return ({ closed, newerIn, source }: FoundDeadLetter): boolean =>
    isComplete &&
    !closed &&
    newerIn !== undefined &&
    exports.has(source) &&
    canBeOfSource(newerIn, source);
}

export function olderText(older: number): string {
  const what = older === 1 ? '1 older dead letter' : `${count(older)} older dead letters`;
  return `${what} of these orders, in earlier versions of an export, ${older === 1 ? 'is' : 'are'} not shown: commands with --order include them, and --json lists them.`;
}
