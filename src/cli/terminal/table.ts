import { cutText, textWidth } from '../../core/format.ts';
import type { Tone, ViewColumn } from '../../views/view.ts';
import { type Format, printable } from './print.ts';

type Cell = { text: string; tone: Tone };
/** A column that is shown. `at`: its place among all; `width`: its characters. */
type Shown = ViewColumn & { at: number; width: number };

/** Characters between two columns. */
const GAP = 2;
/** The smallest width of a cut column. */
const LEAST = 6;

/**
 * Rows below their titles, fitted into `format.columns` characters: columns that may leave are omitted, others cut. If that
 * is undefined, nothing is cut. Hidden characters are escaped. Empty if there are no rows.
 */
export function table(
  columns: readonly ViewColumn[],
  rows: readonly (readonly Cell[])[],
  { paint, columns: places = Number.POSITIVE_INFINITY }: Format,
): string {
  if (rows.length === 0) return '';
  const head = columns.map(({ title }) => ({ text: title, tone: 'quiet' as const }));
  const cells = [head, ...rows].map((row) =>
    row.map(({ text, tone }) => ({ text: printable(text), tone })),
  );
  const widthOf = (at: number) =>
    cells.reduce((most, row) => Math.max(most, textWidth(row[at]?.text ?? '')), 0);
  const all = columns.map((column, at) => ({ ...column, at, width: widthOf(at) }));
  const shown = fitted(chosen(all, places), places);
  return cells
    .map((row) => {
      let left = places;
      const texts = shown.map(({ at, cut = 'end', right, width: wanted }) => {
        const { text = '', tone = 'plain' } = row[at] ?? {};
        const width = Math.max(0, Math.min(wanted, left));
        left -= width + GAP;
        const kept = width === 0 ? '' : cutText(text, width, cut);
        const blank = ' '.repeat(width - textWidth(kept));
        return right ? blank + paint(tone, kept) : paint(tone, kept) + blank;
      });
      return `${texts
        .filter((text) => text !== '')
        .join(' '.repeat(GAP))
        .trimEnd()}\n`;
    })
    .join('');
}

const total = (widths: readonly number[]) => widths.reduce((sum, width) => sum + GAP + width, -GAP);

/** Omits columns, lowest `leaves` first, until those that may be cut get the width that they wish. */
function chosen(columns: readonly Shown[], places: number): readonly Shown[] {
  const wished = columns.map(({ cut, wish = LEAST, width }) =>
    cut ? Math.min(width, wish) : width,
  );
  const first = Math.min(...columns.map(({ leaves = Number.POSITIVE_INFINITY }) => leaves));
  if (total(wished) <= places || first === Number.POSITIVE_INFINITY) return columns;
  return chosen(
    columns.filter(({ leaves }) => leaves !== first),
    places,
  );
}

/** Narrows the widest column that may be cut; none below its wish while another is wider than its own. */
function fitted(columns: readonly Shown[], places: number): readonly Shown[] {
  const shown = columns.map((column) => ({ ...column }));
  const widest = (least: (column: Shown) => number) =>
    shown
      .filter((one) => one.cut !== undefined && one.width > least(one))
      .reduce<Shown | undefined>((a, b) => (a && a.width >= b.width ? a : b), undefined);
  for (let excess = total(shown.map(({ width }) => width)) - places; excess > 0; excess -= 1) {
    const one = widest(({ wish = LEAST }) => Math.max(wish, LEAST)) ?? widest(() => LEAST);
    if (one === undefined) break;
    one.width -= 1;
  }
  return shown;
}
