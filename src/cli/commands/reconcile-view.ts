import { count, counted, orders, outcomeWord, stamp } from '../../core/format.ts';
import { type Comparison, differenceCount } from '../../operate/delivery/reconcile-ledger.ts';
import type { Done } from '../../operations/operation.ts';
import { LEFT_STEPS, type ReconcilePlan, unprovedText } from '../../operations/run-reconcile.ts';
import { type Block, type Column, section, type Text, tableOf } from '../../views/view.ts';
import { blockText } from '../terminal/view-text.ts';
import type { ActView } from './definitions/operation-command.ts';

/** Orders of each kind that are shown without `--limit`; JSON shows all. */
const ROWS = 50;

export const reconcileView: ActView<ReconcilePlan, Done> = {
  plan: (plan, { format }) =>
    plan.comparison &&
    differences(plan.comparison, plan)
      .map((block) => blockText(block, format))
      .join(''),
};

const ORDER: Column<{ order: string }> = { title: 'order', of: ({ order }) => order, cut: 'end' };

/** `1 order is`, `5 orders are`. */
function areOrders(number: number, noun = 'order'): string {
  return `${counted(number, noun)} ${number === 1 ? 'is' : 'are'}`;
}

function differences(
  { found, unproved }: Comparison,
  { limit: most = ROWS, isRepaired, isPending }: ReconcilePlan,
): Block[] {
  const { missing, unknown, differing, twice, listed, accepted, young, inProgress } = found;
  const recent =
    young === 0 ? '' : ` (${count(young)} of them too recent to be expected in the list)`;
  // Before it sends anything, a daemon that waits for the list adds what it shows.
  const [again, settle] =
    isRepaired || isPending
      ? ['', '']
      : [
          ' A file with one of them sends it again. Add them first: po-sync reconcile --repair.',
          ` Settle what is the same with po-sync reconcile --repair.${LEFT_STEPS}`,
        ];
  const kind = <Row extends { order: string }>(
    rows: readonly Row[],
    title: string,
    more: Column<Row>[] = [],
  ): Block => {
    const shown = tableOf<Row>(rows.slice(0, most), [ORDER, ...more]);
    const rest = `… and ${count(rows.length - most)} more; use --limit to see more.`;
    return section(title, shown, list(rows.length > most ? [rest] : []));
  };
  return [
    list([
      `The API lists ${orders(listed)}; the ledger has ${count(accepted)} accepted${recent}.`,
      ...(inProgress === 0
        ? []
        : [`${areOrders(inProgress, 'listed order')} in progress here: the daemon settles them.`]),
    ]),
    kind(unknown, `${areOrders(unknown.length)} at the API but not in the ledger.${again}`),
    kind(
      missing,
      `${areOrders(missing.length, 'accepted order')} not in the API's list. Ask the owner of the API.`,
      [{ title: 'accepted', of: ({ acceptedAt }) => stamp(acceptedAt) }],
    ),
    kind(
      differing,
      `${areOrders(differing.length)} different at the API, in content or state.${settle}`,
      [
        { title: 'ledger', of: ({ here }) => (here === 'inDoubt' ? outcomeWord(here) : here) },
        { title: 'items', of: ({ sameItems }) => (sameItems ? 'the same' : 'different') },
      ],
    ),
    kind(
      twice,
      `${orders(twice.length)} created twice. Ask the API's owner to remove all but one of each.`,
      [{ title: 'times', of: ({ times }) => String(times) }],
    ),
    list(unproved === undefined ? [] : [unprovedText(unproved)]),
    list(
      differenceCount(found) === 0 && unproved === undefined
        ? ['They agree. No order is listed twice.']
        : [],
    ),
  ];
}

const list = (texts: readonly Text[]): Block => ({ kind: 'list', texts });
