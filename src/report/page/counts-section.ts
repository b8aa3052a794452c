import { count, MEANINGS, outcomeWord } from '../../core/format.ts';
import { needsPerson, OUTCOMES, type Outcome } from '../../order/outcome.ts';
import type { Report } from '../report.ts';
import { allNameless, namelessOf, openText, type Story } from '../story.ts';
import { type Html, html } from './html.ts';

/** How many orders have an outcome. `nameless`: how many are rows without an order number, each counted as an order. */
type Share = { outcome: Outcome; number: number; nameless: number };

/** How a part of the bar is drawn: `hatched` needed a person. */
type Look = 'done' | 'idle' | 'hatched';

/** The counts by outcome: a bar, and a tile for each outcome that occurred. */
export function countsSection(report: Report, story: Story): Html | undefined {
  const present = OUTCOMES.filter((outcome) => report.counts[outcome] > 0).map((outcome): Share => {
    const nameless = needsPerson(outcome) ? namelessOf(story.groups, outcome) : 0;
    return { outcome, number: report.counts[outcome], nameless };
  });
  if (present.length === 0) return undefined;
  return html`<section aria-labelledby="counts">
<h2 id="counts">${titleOf(report, allNameless(story))}</h2>
${bar(present)}
<ul class="counts">${present.map(tile)}</ul>
</section>`;
}

/** What the tiles count: the rows without an order number may belong to fewer orders. */
function titleOf({ counts }: Report, nameless: number): string {
  if (counts.orders === 0) return 'Outcomes';
  return `Outcomes of ${openText(Math.max(counts.orders, nameless), nameless)}`;
}

/** The bar shows all orders of the file that have an outcome. */
function bar(shares: readonly Share[]): Html {
  const total = shares.reduce((sum, share) => sum + share.number, 0);
  const said = shares.map(({ outcome, number }) => `${count(number)} ${outcomeWord(outcome)}`);
  return html`<svg class="bar" role="img" aria-label="${said.join(', ')}" width="100%" height="16">
<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="care" width="6" height="6"/><rect class="stripe" width="2" height="6"/></pattern></defs>
${segments(shares, total)}</svg>`;
}

/** Very small parts are drawn wide enough to be seen; the bar is scaled so that all fit. */
function segments(shares: readonly Share[], total: number): Html[] {
  const widths = shares.map(({ number }) => Math.max((number / total) * 100, 1));
  const sum = widths.reduce((left, width) => left + width, 0);
  let x = 0;
  return shares.map(({ outcome }, index) => {
    const width = ((widths[index] ?? 0) / sum) * 100;
    const rect = html`<rect class="${lookOf(outcome)}" x="${x.toFixed(3)}%" width="${width.toFixed(3)}%" height="16"/>`;
    x += width;
    return index === 0
      ? rect
      : html`${rect}<rect class="gap" x="${(x - width).toFixed(3)}%" width="2" height="16"/>`;
  });
}

function tile({ outcome, number, nameless }: Share): Html {
  const look = lookOf(outcome);
  return html`<li class="${look}"><span class="number">${count(number)}</span>
<span class="word">${swatch(look)} ${outcomeWord(outcome)}</span><span class="meaning">${MEANINGS[outcome]}${rowsIn(number, nameless)}</span></li>`;
}

function rowsIn(number: number, nameless: number): string {
  return nameless === 0 ? '' : `; ${openText(number, nameless)}`;
}

function swatch(look: Look): Html {
  return html`<svg class="swatch" aria-hidden="true" width="12" height="12"><rect class="${look}" width="12" height="12" rx="3"/></svg>`;
}

function lookOf(outcome: Outcome): Look {
  if (needsPerson(outcome)) return 'hatched';
  return outcome === 'accepted' ? 'done' : 'idle';
}
