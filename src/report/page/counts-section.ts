import { count, MEANINGS, outcomeWord } from '../../core/format.ts';
import { needsPerson, OUTCOMES, type Outcome } from '../../order/outcome.ts';
import type { Report } from '../report.ts';
import { allNameless, namelessOf, openText, type Story } from '../story.ts';
import { type Html, html, reportLink, visible } from './html.ts';

/** How many orders have an outcome. `nameless`: how many are rows without an order number, each counted as an order. */
type Share = { outcome: Outcome; number: number; nameless: number };

/** How a part of the bar is drawn: `hatched` needed a person. */
type Look = 'done' | 'idle' | 'hatched';

/** The counts by outcome: a bar, a tile for each outcome that occurred, and the other outcomes on one line. */
export function countsSection(report: Report, story: Story): Html | undefined {
  const shares = OUTCOMES.map((outcome): Share => {
    const nameless = needsPerson(outcome) ? namelessOf(story.groups, outcome) : 0;
    return { outcome, number: report.counts[outcome], nameless };
  });
  const present = shares.filter((share) => share.number > 0);
  if (present.length === 0) return undefined;
  const numbers = ({ outcome }: Share) => story.settled.get(outcome) ?? [];
  return html`<section aria-labelledby="counts">
<h2 id="counts">${titleOf(report, allNameless(story))}</h2>
${bar(present)}
<ul class="counts">${present.map(tile)}</ul>
${absent(shares.filter((share) => share.number === 0))}
${present.map((share) => numbersOf(share, numbers(share)))}
</section>`;
}

/** What the tiles count: the rows without an order number may belong to fewer orders. */
function titleOf({ counts }: Report, nameless: number): string {
  if (counts.orders === 0) return 'Outcomes';
  return `Outcomes of ${openText(Math.max(counts.orders, nameless), nameless)}`;
}

const LONGEST_NUMBER = 64;

/** Numbers in columns; if there are more, all are a text, so that the page is small and takes few sheets of paper. */
const IN_COLUMNS = 100;

/** The orders that need no person, so that a reader without the report's folder can check them off. */
function numbersOf({ outcome, number: all }: Share, numbers: readonly string[]): Html {
  if (numbers.length === 0) return html``;
  const rest = all - numbers.length;
  const more =
    rest > 0
      ? html`<p class="more">${count(rest)} more in ${reportLink('results.csv')}.</p>`
      : undefined;
  const names = numbers.map((one) => html`<bdi>${visible(one, LONGEST_NUMBER)}</bdi>`);
  const list =
    names.length > IN_COLUMNS
      ? html`<p class="numbers">${names.map((one, i) => html`${i === 0 ? '' : ', '}${one}`)}</p>`
      : html`<ul class="orders">${names.map((one) => html`<li>${one}</li>\n`)}</ul>`;
  return html`<details><summary>Orders: ${outcomeWord(outcome)}</summary>
${list}${more}</details>`;
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

function absent(shares: readonly Share[]): Html | undefined {
  if (shares.length === 0) return undefined;
  return html`<p class="soft">None: ${shares.map((share) => outcomeWord(share.outcome)).join(', ')}.</p>`;
}

function lookOf(outcome: Outcome): Look {
  if (needsPerson(outcome)) return 'hatched';
  return outcome === 'accepted' ? 'done' : 'idle';
}
