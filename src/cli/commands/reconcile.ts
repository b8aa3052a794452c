import type { ListedOrder } from '../../api/list.ts';
import { PoSyncError } from '../../core/errors.ts';
import { orders } from '../../core/format.ts';
import { existingOf, openAdoption } from '../../ledger/adopt.ts';
import { compareWithList, type Differences } from '../../operate/compare-with-list.ts';
import { openTakeOver, type TakeOver } from '../../reconcile/ledger-rebuild.ts';
import { refreshReports } from '../../settle/refresh-reports.ts';
import { type Desk, type DeskArgs, openDesk, openListing } from '../operator-context.ts';
import type { Shell } from '../shell.ts';
import { agreement } from '../terminal/confirmation.ts';
import { openPaint } from '../terminal/paint.ts';
import { iso, printJson } from '../terminal/print-json.ts';
import { counted, withoutStop } from '../terminal/wording.ts';
import { differencesText } from './differences-text.ts';

type ReconcileArgs = DeskArgs & { repair: boolean; withoutList: boolean; yes: boolean; limit: number };

/**
 * `reconcile`: compares the ledger with the API's list. 0: they agree; 2: they do not, also after `--repair`.
 * Throws PoSyncError `list-unavailable`, `list-failed`, and what keeps a command from its store or token.
 */
export async function reconcileCommand(args: ReconcileArgs, shell: Shell): Promise<number> {
  await using desk = await openDesk(args, shell, { confirm: args.repair });
  if (args.withoutList) return await goOnWithout(args, desk, shell);
  await using listing = await openListing(desk, shell);
  const takeOver = takeOverOf(desk, listing.read);
  const before = args.repair ? await waitForFlights(args, desk, takeOver, shell) : undefined;
  const listedFrom = desk.time.now();
  const listed: ListedOrder[] = [];
  const end = await listing.read((order) => listed.push(order));
  if (end.kind !== 'complete') throw noList(end.kind === 'unavailable', end.said.message, await takeOver.pending());
  const compare = () => compareWithList(listed, listedFrom, desk.policy.settle, desk);
  const found = await compare();
  const pending = await takeOver.pending();
  const format = { paint: openPaint(shell), columns: shell.isTTY ? shell.columns : undefined, limit: args.limit };
  if (!args.json) shell.out(differencesText(found, args.repair, format));
  if (!args.repair || (mendable(found) === 0 && pending === undefined)) {
    if (args.json) printJson(shell, { environment: desk.environment, ...inWords(found) });
    return differing(found) > 0 ? 2 : 0;
  }
  const question = `Take over what the API has of ${orders(mendable(found))}?`;
  if (!(await agreement(question, args, shell))) return 1;
  const added = await takeOver.takeIn(listed.map(existingOf), desk.operator.did('taken over'));
  // What was asked for only after this list was read waits for another.
  if (before) await takeOver.finish(before.life);
  await refreshReports(desk);
  const left = await compare();
  if (args.json)
    printJson(shell, { environment: desk.environment, ...inWords(found), repaired: { added, left: inWords(left) } });
  else shell.out(repairedText(added, pending !== undefined, differing(left)));
  return differing(left) > 0 ? 2 : 0;
}

type Pending = Awaited<ReturnType<TakeOver['pending']>>;

/** After a rollback the list counts only when nothing sent before can still arrive. */
async function waitForFlights({ json }: ReconcileArgs, desk: Desk, takeOver: TakeOver, shell: Shell): Promise<Pending> {
  const pending = await takeOver.pending();
  const wait = (pending?.notBefore ?? 0) - desk.time.now();
  if (wait <= 0) return pending;
  if (!json) shell.out(`Waiting ${Math.ceil(wait / 1000)} s, until nothing sent before can still arrive.\n`);
  await desk.clock.sleep(wait, shell.signal);
  if (shell.signal.aborted) throw new PoSyncError('interrupted', 'interrupted before the list was read.');
  return pending;
}

/** Where this API gives no list, a person may let delivery go on after a rollback all the same. */
async function goOnWithout(args: ReconcileArgs, desk: Desk, shell: Shell): Promise<number> {
  if (!args.repair) {
    throw new PoSyncError('flag-invalid', '--without-list only goes with --repair.', {
      facts: { flag: '--without-list' },
    });
  }
  const takeOver = takeOverOf(desk, () => Promise.reject(new Error('goes on without the list')));
  const pending = await takeOver.pending();
  const question =
    'Let delivery go on though the ledger may have forgotten orders? Files dropped again may then be sent twice.';
  if (pending !== undefined && !(await agreement(question, args, shell))) return 1;
  if (pending) await takeOver.finish(pending.life);
  if (args.json) printJson(shell, { environment: desk.environment, released: pending !== undefined });
  else shell.out(pending === undefined ? 'Nothing waits for the list.\n' : 'Delivery goes on without the list.\n');
  return 0;
}

function takeOverOf(desk: Desk, list: Parameters<typeof openTakeOver>[0]['list']): TakeOver {
  const { gate, redis, keys } = desk;
  return openTakeOver({ ...desk, list, refresh: () => gate.refresh(true), adopt: openAdoption({ redis, keys }) });
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
      mend: 'Try again; po-sync doctor looks at each step to it.',
      facts,
    });
  }
  return new PoSyncError('list-unavailable', `This API does not give its list: ${reason}.`, {
    mend:
      pending === undefined
        ? 'Its owner can allow it with the scope read; without it there is nothing to compare with.'
        : 'Its owner can allow it; reconcile --repair --without-list lets delivery go on at your own risk.',
    facts,
  });
}
