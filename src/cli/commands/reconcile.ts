import type { ListedOrder } from '../../api/list.ts';
import { PoSyncError } from '../../core/errors.ts';
import { counted, iso, orders } from '../../core/format.ts';
import { createAdoption, existingOf } from '../../ledger/adopt.ts';
import { compareWithList, type Differences } from '../../operate/compare-with-list.ts';
import { createLedgerRebuild, type LedgerRebuild } from '../../reconcile/ledger-rebuild.ts';
import { refreshReports } from '../../settle/refresh-reports.ts';
import {
  type OperatorContext,
  type OperatorContextArgs,
  openListing,
  openOperatorContext,
} from '../operator-context.ts';
import type { Shell } from '../shell.ts';
import { confirmation } from '../terminal/confirmation.ts';
import { createPaint } from '../terminal/paint.ts';
import { printJson } from '../terminal/print-json.ts';
import { withoutStop } from '../terminal/wording.ts';
import { differencesText } from './differences-text.ts';

type ReconcileArgs = OperatorContextArgs & { repair: boolean; withoutList: boolean; yes: boolean; limit: number };

/**
 * `reconcile`: compares the ledger with the API's list. 0: they agree; 2: they do not, also after `--repair`.
 * Throws PoSyncError `list-unavailable`, `list-failed`, and what keeps a command from its store or token.
 */
export async function reconcileCommand(args: ReconcileArgs, shell: Shell): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: args.repair });
  if (args.withoutList) return await goOnWithout(args, context, shell);
  await using listing = await openListing(context, shell);
  const rebuild = rebuildOf(context, listing.read);
  const before = args.repair ? await waitForFlights(args, context, rebuild, shell) : undefined;
  const listedFrom = context.time.now();
  const listed: ListedOrder[] = [];
  const end = await listing.read((order) => listed.push(order));
  if (end.kind !== 'complete') throw noList(end.kind === 'unavailable', end.said.message, await rebuild.pending());
  const compare = () => compareWithList(listed, listedFrom, context.policy.settle, context);
  const found = await compare();
  const pending = await rebuild.pending();
  const format = { paint: createPaint(shell), columns: shell.isTTY ? shell.columns : undefined, limit: args.limit };
  if (!args.json) shell.out(differencesText(found, args.repair, format));
  if (!args.repair || (mendable(found) === 0 && pending === undefined)) {
    if (args.json) printJson(shell, { environment: context.environment, ...inWords(found) });
    return differing(found) > 0 ? 2 : 0;
  }
  const question = `Take over what the API has of ${orders(mendable(found))}?`;
  if (!(await confirmation(question, args, shell))) return 1;
  const added = await rebuild.takeIn(listed.map(existingOf), context.operator.did('rebuilt'));
  // What was asked for only after this list was read waits for another.
  if (before) await rebuild.finish(before.epoch);
  await refreshReports(context);
  const left = await compare();
  if (args.json)
    printJson(shell, { environment: context.environment, ...inWords(found), repaired: { added, left: inWords(left) } });
  else shell.out(repairedText(added, pending !== undefined, differing(left)));
  return differing(left) > 0 ? 2 : 0;
}

type Pending = Awaited<ReturnType<LedgerRebuild['pending']>>;

/** After a rollback the list counts only when nothing sent before can still arrive. */
async function waitForFlights(
  { json }: ReconcileArgs,
  context: OperatorContext,
  rebuild: LedgerRebuild,
  shell: Shell,
): Promise<Pending> {
  const pending = await rebuild.pending();
  const wait = (pending?.notBefore ?? 0) - context.time.now();
  if (wait <= 0) return pending;
  if (!json) shell.out(`Waiting ${Math.ceil(wait / 1000)} s, until nothing sent before can still arrive.\n`);
  await context.clock.sleep(wait, shell.signal);
  if (shell.signal.aborted) throw new PoSyncError('interrupted', 'interrupted before the list was read.');
  return pending;
}

/** Where this API gives no list, a person may let delivery go on after a rollback all the same. */
async function goOnWithout(args: ReconcileArgs, context: OperatorContext, shell: Shell): Promise<number> {
  if (!args.repair) {
    throw new PoSyncError('flag-invalid', '--without-list only goes with --repair.', {
      facts: { flag: '--without-list' },
    });
  }
  const rebuild = rebuildOf(context, () => Promise.reject(new Error('goes on without the list')));
  const pending = await rebuild.pending();
  const question =
    'Let delivery go on though the ledger may have forgotten orders? Files dropped again may then be sent twice.';
  if (pending !== undefined && !(await confirmation(question, args, shell))) return 1;
  if (pending) await rebuild.finish(pending.epoch);
  if (args.json) printJson(shell, { environment: context.environment, released: pending !== undefined });
  else shell.out(pending === undefined ? 'Nothing waits for the list.\n' : 'Delivery goes on without the list.\n');
  return 0;
}

function rebuildOf(context: OperatorContext, list: Parameters<typeof createLedgerRebuild>[0]['list']): LedgerRebuild {
  const { breaker, redis, keys } = context;
  return createLedgerRebuild({
    ...context,
    list,
    refresh: () => breaker.refresh(true),
    adopt: createAdoption({ redis, keys }),
  });
}

/** What taking over can settle. */
function mendable({ unknown, differing: others }: Differences): number {
  return unknown.length + others.filter(({ here }) => here !== 'accepted').length;
}

function differing({ missing, unknown, differing: others }: Differences): number {
  return missing.length + unknown.length + others.length;
}

function inWords({ missing, ...rest }: Differences) {
  return { ...rest, missing: missing.map(({ order, acceptedAt }) => ({ order, acceptedAt: iso(acceptedAt) })) };
}

function repairedText(added: number, wasPending: boolean, left: number): string {
  const goesOn = wasPending ? ' Delivery no longer waits for the list.' : '';
  const rest = left === 0 ? 'Ledger and API agree now.' : `${counted(left, 'difference')} left for a person.`;
  return `${orders(added)} added to the ledger.${goesOn} ${rest}\n`;
}

function noList(unavailable: boolean, said: string, pending: { why: string } | undefined): PoSyncError {
  const reason = withoutStop(said);
  const facts = { reason };
  if (!unavailable) {
    return new PoSyncError('list-failed', `The API's list could not be read: ${reason}.`, {
      remedy: 'Try again; po-sync doctor looks at each step to it.',
      facts,
    });
  }
  return new PoSyncError('list-unavailable', `This API does not give its list: ${reason}.`, {
    remedy:
      pending === undefined
        ? 'Its owner can allow it with the scope read; without it there is nothing to compare with.'
        : 'Its owner can allow it; reconcile --repair --without-list lets delivery go on at your own risk.',
    facts,
  });
}
