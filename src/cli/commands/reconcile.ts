import { interruption, PoSyncError } from '../../core/errors.ts';
import { count, counted, iso, orders, outcomeWord, stamp, withoutStop } from '../../core/format.ts';
import { openApiList } from '../../operate/delivery/api-list.ts';
import {
  createReconciliation,
  type Differences,
  differenceCount,
  isRepairable,
  type Reconciliation,
  repairable,
} from '../../operate/delivery/reconcile-ledger.ts';
import { type OperatorContext, recorded } from '../../operate/operator-context.ts';
import { shellWord, shellWords } from '../../order/text.ts';
import type { Unproved } from '../../reconcile/list-proof.ts';
import { type CommonArgs, openOperatorContext } from '../load-config.ts';
import type { Shell } from '../shell.ts';
import {
  confirmation,
  type Format,
  formatOf,
  hanging,
  printable,
  printJson,
} from '../terminal/print.ts';
import { type Column, table } from '../terminal/table.ts';

type ReconcileArgs = CommonArgs & {
  repair: boolean;
  withoutList: boolean;
  expect?: number;
  yes: boolean;
  limit?: number;
};

/** Orders of each kind that are shown without `--limit`; JSON shows all. */
const ROWS = 50;

/** Of those with which nobody has to do anything. */
const ADDED_ROWS = 5;

/**
 * `reconcile`: compares the ledger with the API's list. 0: they agree; 2: they differ, also after `--repair`, or the list
 * is not proved complete. `--expect N`: a person says that the API has N orders.
 * Throws PoSyncError `list-unavailable`, `list-failed`.
 */
export async function reconcileCommand(args: ReconcileArgs, shell: Shell): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: args.repair });
  if (args.withoutList) return await resumeWithoutList(args, context, shell);
  await using list = await openApiList(context, shell.env);
  const reconciliation = createReconciliation(context, list.read);
  if (args.expect !== undefined) await reconciliation.expect(args.expect);
  const before = args.repair
    ? await waitForCallsInFlight(args, context, reconciliation, shell)
    : undefined;
  const comparison = await reconciliation.compare();
  const { found, unproved } = comparison;
  const isShort = found.listed < (args.expect ?? 0);
  const pending = await reconciliation.pending();
  const { environment } = context.config;
  const isRepaired = args.repair && (repairable(found) > 0 || pending !== undefined);
  if (!args.json) {
    const more = { limit: args.limit, isRepaired, isPending: pending !== undefined };
    shell.out(differencesText(found, { ...more, unproved }, formatOf(shell)));
    if (isShort) shell.out(shortText(found.listed, args.expect ?? 0));
  }
  if (!isRepaired) {
    const proof = unproved === undefined ? {} : { unproved };
    if (args.json)
      printJson(shell, { environment, ...differencesJson(found, args.limit), ...proof });
    return differenceCount(found) > 0 || unproved !== undefined || isShort ? 2 : 0;
  }
  const question = `Add what the API has to the ledger (${orders(repairable(found))})?`;
  if (!(await confirmation(question, args, shell))) return 1;
  const { added, left, settled, text } = await recorded(
    { what: 'reconcile', on: environment },
    context,
    async () => {
      const end = await reconciliation.repair(comparison, before?.epoch);
      const done = { ...end, settled: settledOf(found, end.left) };
      return { ...done, text: repairedText(done, unproved) };
    },
  );
  if (args.json) {
    const repaired = {
      added,
      settled: settled.slice(0, args.limit),
      left: differencesJson(left, args.limit),
    };
    const proof = unproved === undefined ? {} : { unproved };
    printJson(shell, { environment, ...differencesJson(found, args.limit), ...proof, repaired });
  } else shell.out(`${printable(text)}\n`);
  return differenceCount(left) > 0 || unproved !== undefined || isShort ? 2 : 0;
}

/** After a rollback the list is evidence only when no earlier call can still arrive. Returns the pending rebuild. */
async function waitForCallsInFlight(
  { json }: ReconcileArgs,
  { clock, store }: OperatorContext,
  reconciliation: Reconciliation,
  shell: Shell,
) {
  const pending = await reconciliation.pending();
  const wait = (pending?.notBefore ?? 0) - store.time.now();
  if (wait <= 0) return pending;
  if (!json)
    shell.out(`Waiting ${Math.ceil(wait / 1000)} s until no earlier call can still arrive.\n`);
  await clock.sleep(wait, shell.signal);
  if (shell.signal.aborted) throw interruption('Interrupted before the list was read.');
  return pending;
}

/** If the API offers no list, a person may resume delivery after a rollback without it. */
async function resumeWithoutList(
  args: ReconcileArgs,
  context: OperatorContext,
  shell: Shell,
): Promise<number> {
  if (!args.repair) {
    throw new PoSyncError('flag-invalid', 'Option --without-list needs --repair.', {
      remedy: 'Run po-sync reconcile --repair --without-list.',
      facts: { flag: '--without-list' },
    });
  }
  await using list = await openApiList(context, shell.env);
  const { pending, finish } = createReconciliation(context, list.read);
  const waiting = await pending();
  const question =
    'Resume delivery although the ledger may have lost orders? Orders that are dropped again may be created twice.';
  if (waiting !== undefined && !(await confirmation(question, args, shell))) return 1;
  const text = 'Delivery resumes without the list.';
  const resume = () => finish(waiting?.epoch ?? '').then(() => ({ text }));
  if (waiting)
    await recorded({ what: 'reconcile', on: context.config.environment }, context, resume);
  if (args.json)
    printJson(shell, { environment: context.config.environment, released: waiting !== undefined });
  else shell.out(`${waiting === undefined ? 'Delivery is not waiting for the list.' : text}\n`);
  return 0;
}

function differencesJson(
  { missing, unknown, differing, twice, ...totals }: Differences,
  limit = Number.POSITIVE_INFINITY,
) {
  return {
    ...totals,
    unknown: unknown.slice(0, limit),
    differing: differing.slice(0, limit),
    twice: twice.slice(0, limit),
    missing: missing
      .slice(0, limit)
      .map(({ order, acceptedAt }) => ({ order, acceptedAt: iso(acceptedAt) })),
  };
}

/** The orders that a repair settled as accepted. */
function settledOf(found: Differences, left: Differences): string[] {
  const differs = new Set(left.differing.map(({ order }) => order));
  return found.differing.flatMap(({ order }) => (differs.has(order) ? [] : [order]));
}

/** Maximum number of settled orders named. */
const SETTLED_NAMED = 5;

function settledText(settled: readonly string[]): string {
  if (settled.length === 0) return '';
  const more =
    settled.length > SETTLED_NAMED ? `, … and ${count(settled.length - SETTLED_NAMED)} more` : '';
  return ` ${orders(settled.length)} settled as accepted: ${settled.slice(0, SETTLED_NAMED).join(', ')}${more}.`;
}

type Repair = { added: number; settled: readonly string[]; left: Differences; waits: boolean };

function repairedText({ added, settled, ...rest }: Repair, unproved: Unproved | undefined): string {
  const left = differenceCount(rest.left);
  const resumed = rest.waits ? WAITS_FOR_DAEMON : '';
  const state =
    left > 0
      ? `${counted(left, 'difference')} ${left === 1 ? 'needs' : 'need'} a person.`
      : unproved === undefined
        ? 'Ledger and API agree.'
        : withoutStop(unprovedText(unproved));
  return `${orders(added)} added to the ledger.${settledText(settled)}${resumed} ${state}${differingSteps(rest.left)}`;
}

const WAITS_FOR_DAEMON = ' Delivery resumes when a daemon has read the list.';

/** `1 order is`, `5 orders are`. */
function areOrders(number: number, noun = 'order'): string {
  return `${counted(number, noun)} ${number === 1 ? 'is' : 'are'}`;
}

/** Nothing is sent before the daemon has read the list, which adds and settles what the API has. */
const ADDED_FIRST = ' Nothing to do: delivery waits until the daemon has added what the API has.';

/** What to do about orders that differ: first the repair, then what only a person can do. */
function differingHint({ differing }: Differences, isPending: boolean): string {
  if (isPending && differing.every(({ here, sameItems }) => sameItems && here !== 'accepted'))
    return ADDED_FIRST;
  const settled = differing.filter(isRepairable).length;
  const which = settled < differing.length ? count(settled) : settled === 1 ? 'it' : 'them';
  const repair = settled === 0 ? '' : ` Settle ${which} with po-sync reconcile --repair.`;
  return repair + differingSteps({ differing });
}

/** Maximum number of orders that a command names. */
const IN_COMMAND = 10;

/** What a person can do about orders that a repair does not change. */
function differingSteps({ differing }: Pick<Differences, 'differing'>): string {
  const of = (state: string) => differing.filter((one) => one.here === state && !isRepairable(one));
  const [accepted, conflict, inDoubt] = [of('accepted'), of('conflict'), of('inDoubt')];
  const about = accepted.length === differing.length ? '' : ' about those that are accepted here';
  const [first, second] = inDoubt;
  const resolved = shellWords(
    first === undefined || second !== undefined ? 'NUMBER' : first.order,
    '--as',
    'accepted',
  );
  const options = conflict.slice(0, IN_COMMAND).map(({ order }) => `--order ${shellWord(order)}`);
  const others = conflict.length - options.length;
  const discarded = `${options.join(' ')} for the ${conflict.length === 1 ? 'order' : 'orders'} in conflict${others > 0 ? `, and the same for ${count(others)} more` : ''}`;
  const each = (some: Differences['differing']) => (some.length === 1 ? 'the order' : 'each order');
  return [
    accepted.length === 0 ? '' : ` Ask the owner of the API${about}.`,
    conflict.length === 0
      ? ''
      : ` Run po-sync dead-letters discard ${discarded}, or give ${conflict.length === 1 ? 'it another number in its fix file if it really is another order' : 'each another number in its fix file if it really is another order, and leave it out of this command'}.`,
    inDoubt.length === 0
      ? ''
      : ` Check ${each(inDoubt)} in doubt at the API, and run po-sync dead-letters resolve ${resolved} if it is the right one.`,
  ].join('');
}

/** What the list does not show may be at the API. */
function unprovedText({ code }: Unproved): string {
  const why =
    code === 'list-incomplete' ? 'The list is not complete' : 'The list is not proved complete yet';
  return `${why}: the API may have orders that it does not show. If you know how many orders the API has, run po-sync reconcile --expect with that number.\n`;
}

function shortText(listed: number, expected: number): string {
  return `The list shows ${orders(listed)}, fewer than the ${count(expected)} expected: it is not complete.\n`;
}

const ORDER: Column<{ order: string }> = { title: 'order', of: ({ order }) => order, cut: 'end' };

/** Builds the sections of differences, each with a title and a table. */
function sectionsIn(limit: number | undefined, format: Format) {
  return <Row extends { order: string }>(
    rows: readonly Row[],
    title: string,
    more: Column<Row>[],
  ): string => {
    if (rows.length === 0) return '';
    const most = limit ?? (title.endsWith(ADDED_FIRST) ? ADDED_ROWS : ROWS);
    const rest =
      rows.length > most
        ? `… and ${count(rows.length - most)} more; use --limit to see more.\n`
        : '';
    return `\n${format.paint('bad', hanging(title, 0, format.columns))}\n${table(rows.slice(0, most), [ORDER, ...more], format)}${rest}`;
  };
}

/** `isRepaired`: a repair follows. `isPending`: delivery waits for the list, as after a rollback. */
function differencesText(
  found: Differences,
  {
    limit,
    isRepaired,
    isPending,
    unproved,
  }: {
    limit: number | undefined;
    isRepaired: boolean;
    isPending: boolean;
    unproved: Unproved | undefined;
  },
  format: Format,
): string {
  const { missing, unknown, differing, twice, listed, accepted, young, inProgress } = found;
  const recent =
    young === 0 ? '' : ` (${count(young)} of them too recent to be expected in the list)`;
  const them = unknown.length === 1 ? 'it' : 'them';
  const again = ` A file that contains ${them} sends ${them} again. Add ${them} first: po-sync reconcile --repair.`;
  const hint = isRepaired ? '' : isPending ? ADDED_FIRST : again;
  const section = sectionsIn(limit, format);
  return [
    `The API lists ${orders(listed)}; the ledger has ${count(accepted)} accepted${recent}.\n`,
    inProgress === 0
      ? ''
      : `${areOrders(inProgress, 'listed order')} in progress here: the daemon settles them.\n`,
    section(unknown, `${areOrders(unknown.length)} at the API but not in the ledger.${hint}`, []),
    section(
      missing,
      `${areOrders(missing.length, 'accepted order')} not in the API's list. Ask the owner of the API.`,
      [{ title: 'accepted', of: ({ acceptedAt }) => stamp(acceptedAt) }],
    ),
    section(
      differing,
      `${areOrders(differing.length)} different at the API, in content or state.${isRepaired ? '' : differingHint(found, isPending)}`,
      [
        { title: 'ledger', of: ({ here }) => (here === 'inDoubt' ? outcomeWord(here) : here) },
        { title: 'items', of: ({ sameItems }) => (sameItems ? 'the same' : 'different') },
      ],
    ),
    section(
      twice,
      `${orders(twice.length)} created twice. Ask the API's owner to remove all but one of each.`,
      [{ title: 'times', of: ({ times }) => times }],
    ),
    unproved === undefined ? '' : unprovedText(unproved),
    differenceCount(found) === 0 && unproved === undefined
      ? 'They agree. No order is listed twice.\n'
      : '',
  ].join('');
}
