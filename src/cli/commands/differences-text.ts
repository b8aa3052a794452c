import { count, orders, outcomeWord, stamp } from '../../core/format.ts';
import type { Differences } from '../../operate/compare-with-list.ts';
import type { Paint } from '../terminal/paint.ts';
import { table } from '../terminal/table.ts';

type Format = { paint: Paint; columns: number | undefined; limit: number };

/** What ledger and list do not agree on, at most `limit` orders of each kind. */
export function differencesText(found: Differences, repairing: boolean, format: Format): string {
  const { missing, unknown, differing, listed, accepted, young } = found;
  const hint = repairing ? '' : ' `reconcile --repair` takes them over.';
  const recent = young === 0 ? '' : ` (${count(young)} of them too recently to be missed in the list)`;
  const parts = [
    `The API lists ${orders(listed)}; the ledger holds ${count(accepted)} accepted${recent}.\n`,
    section(
      unknown,
      `${orders(unknown.length)} at the API and unknown here.${hint}`,
      [{ title: 'order', of: ({ order }) => order, cut: 'end' }],
      format,
    ),
    section(
      missing,
      `${orders(missing.length)} accepted here and not in the list. Ask the API's owner what became of them.`,
      [
        { title: 'order', of: ({ order }) => order, cut: 'end' },
        { title: 'accepted', of: ({ acceptedAt }) => stamp(acceptedAt) },
      ],
      format,
    ),
    section(
      differing,
      `${orders(differing.length)} with something else here than at the API.`,
      [
        { title: 'order', of: ({ order }) => order, cut: 'end' },
        { title: 'here', of: ({ here }) => (here === 'inDoubt' ? outcomeWord(here) : here) },
        { title: 'items', of: ({ sameItems }) => (sameItems ? 'the same' : 'others') },
      ],
      format,
    ),
  ];
  const agree = missing.length + unknown.length + differing.length === 0 ? 'They agree.\n' : '';
  return parts.join('') + agree;
}

function section<Row>(
  rows: readonly Row[],
  title: string,
  columns: Parameters<typeof table<Row>>[1],
  format: Format,
): string {
  if (rows.length === 0) return '';
  const more = rows.length > format.limit ? `… and ${count(rows.length - format.limit)} more; --json has all.\n` : '';
  return `\n${format.paint('bad', title)}\n${table(rows.slice(0, format.limit), columns, format)}${more}`;
}
