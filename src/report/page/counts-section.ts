import { count, MEANINGS, outcomeWord } from '../../core/format.ts';
import { needsPerson, OUTCOMES, type Outcome } from '../../order/outcome.ts';
import type { Report } from '../report.ts';
import { type Html, html } from './html.ts';

type Share = { outcome: Outcome; number: number };

/** How many orders ended in each outcome: one bar, the outcomes that occurred, and those that did not in one line. */
export function countsSection(report: Report): Html | undefined {
  const shares = OUTCOMES.map((outcome) => ({ outcome, number: report.counts[outcome] }));
  const present = shares.filter((share) => share.number > 0);
  if (present.length === 0) return undefined;
  return html`<section aria-labelledby="counts">
<h2 id="counts">What became of the orders</h2>
${bar(present)}
<ul class="counts">${present.map(tile)}</ul>
${absent(shares.filter((share) => share.number === 0))}
</section>`;
}

function bar(shares: readonly Share[]): Html {
  const total = shares.reduce((sum, share) => sum + share.number, 0);
  const label = shares.map((share) => `${count(share.number)} ${outcomeWord(share.outcome)}`).join(', ');
  return html`<svg class="bar" role="img" aria-label="${label}" width="100%" height="16">
<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="care" width="6" height="6"/><rect class="stripe" width="2" height="6"/></pattern></defs>
${segments(shares, total)}</svg>`;
}

/** A share too small to be seen is drawn wide enough to be; the bar is scaled so that all still fit. */
function segments(shares: readonly Share[], total: number): Html[] {
  const widths = shares.map((share) => Math.max((share.number / total) * 100, 1));
  const sum = widths.reduce((left, width) => left + width, 0);
  let x = 0;
  return shares.map((share, index) => {
    const width = ((widths[index] ?? 0) / sum) * 100;
    const rect = html`<rect class="${manner(share.outcome)}" x="${x.toFixed(3)}%" width="${width.toFixed(3)}%" height="16"/>`;
    x += width;
    return index === 0 ? rect : html`${rect}<rect class="gap" x="${(x - width).toFixed(3)}%" width="2" height="16"/>`;
  });
}

function tile({ outcome, number }: Share): Html {
  return html`<li class="${manner(outcome)}"><span class="number">${count(number)}</span>
<span class="word">${swatch(outcome)} ${outcomeWord(outcome)}</span><span class="meaning">${MEANINGS[outcome]}</span></li>`;
}

function swatch(outcome: Outcome): Html {
  return html`<svg class="swatch" aria-hidden="true" width="12" height="12"><rect class="${manner(outcome)}" width="12" height="12" rx="3"/></svg>`;
}

function absent(shares: readonly Share[]): Html | undefined {
  if (shares.length === 0) return undefined;
  return html`<p class="soft">None ${shares.map((share) => outcomeWord(share.outcome)).join(', ')}.</p>`;
}

/** How an outcome is drawn: `done`, `idle`, or hatched where it needs a person. */
function manner(outcome: Outcome): 'done' | 'idle' | 'hatched' {
  if (needsPerson(outcome)) return 'hatched';
  return outcome === 'accepted' ? 'done' : 'idle';
}
