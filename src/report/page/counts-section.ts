import { count, iso, MEANINGS, moment, orders, outcomeWord } from '../../core/format.ts';
import { claimTimeOf, FILES_NAMED, fileTitle } from '../../order/batch.ts';
import { needsPerson, OUTCOMES, type Outcome } from '../../order/outcome.ts';
import { isCancelled, type Report } from '../report.ts';
import { allNameless, broughtOf, type Elsewhere, openText, type Story, sumOf } from '../story.ts';
import { type Html, html, reportLink, visible } from './html.ts';

/**
 * How many orders have an outcome, and how many of them were settled after they needed a person. `nameless`: how many
 * are rows without an order number, each counted as an order.
 */
type Share = { outcome: Outcome; number: number; settled: number; nameless: number };

/** How a part of the bar is drawn: `hatched` needs a person, `waiting` has no outcome yet. */
type Look = 'done' | 'idle' | 'hatched' | 'waiting';

/** The counts by outcome: a bar, a tile for each outcome that occurred, and the other outcomes on one line. */
export function countsSection(report: Report, story: Story): Html | undefined {
  const shares = OUTCOMES.map((outcome): Share => {
    const settled = needsPerson(outcome) ? sumOf(story.groups, outcome, 'closed') : 0;
    const nameless = needsPerson(outcome) ? sumOf(story.groups, outcome, 'nameless') : 0;
    return { outcome, number: report.counts[outcome], settled, nameless };
  });
  const present = shares.filter((share) => share.number > 0);
  if (present.length === 0) return undefined;
  const hasLater = shares.some(({ settled }) => settled > 0);
  return html`<section aria-labelledby="counts">
<h2 id="counts">${titleOf(report, allNameless(story))}</h2>
${bar(present, report)}
<ul class="counts">${present.map(tile)}</ul>
${absent(shares.filter((share) => share.number === 0))}
${present.map((share) => numbersOf(share, { numbers: story.settled.get(share.outcome) ?? [], hasLater, report }))}
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

type Listed = { numbers: readonly string[]; hasLater: boolean; report: Report };

/** The orders that need no person, so that a reader without the report's folder can check them off. */
function numbersOf({ outcome, number: all }: Share, { numbers, hasLater, report }: Listed): Html {
  if (numbers.length === 0) return html``;
  const rest = all - numbers.length;
  const more = rest > 0 ? moreIn(rest, report) : undefined;
  const names = numbers.map((one) => html`<bdi>${visible(one, LONGEST_NUMBER)}</bdi>`);
  const list =
    names.length > IN_COLUMNS
      ? html`<p class="numbers">${names.map((one, i) => html`${i === 0 ? '' : ', '}${one}`)}</p>`
      : html`<ul class="orders">${names.map((one) => html`<li>${one}</li>\n`)}</ul>`;
  return html`<details><summary>Orders: ${outcomeWord(outcome)}</summary>
${list}${more}${outcome === 'accepted' && hasLater ? html`<p class="more">Orders that were accepted later, after a correction, are listed under "What went wrong".</p>` : undefined}</details>`;
}

/** Where the numbers are that are too many for the page. */
function moreIn(rest: number, report: Report): Html {
  return html`<p class="more">${count(rest)} more on the ${pageOfFile(report)}, and in ${reportLink('results.csv')} in the folder of reports.</p>`;
}

const PAGE_OF_FILE = 'page of this file in the dashboard';

/** A text whose words for the page of the file are a link, where the address of that page is known. */
export function withPageLink(text: string, report: Report): Html {
  const [before = '', ...after] = text.split(PAGE_OF_FILE);
  return html`${before}${after.map((part) => html`${pageOfFile(report)}${part}`)}`;
}

function pageOfFile({ batch, help }: Report): Html {
  const page = html`${PAGE_OF_FILE}`;
  return help === undefined
    ? page
    : html`<a href="${new URL(`/batches/${batch}`, help).href}">${page}</a>`;
}

/** The bar shows all orders of the file: those without an outcome yet are empty. Without a total there is no bar. */
function bar(shares: readonly Share[], { state, counts }: Report): Html | undefined {
  const done = shares.reduce((sum, share) => sum + share.number, 0);
  const isOver = state === 'finished' || state === 'unreadable';
  if (!isOver && counts.orders === 0) return undefined;
  const waiting = isOver ? 0 : Math.max(counts.orders - done, 0);
  const parts = [...shares.flatMap(partsOf), { look: 'waiting' as const, number: waiting }];
  const said = shares.map(({ outcome, number }) => `${count(number)} ${outcomeWord(outcome)}`);
  const label = [
    ...said,
    ...(waiting > 0 ? [`${count(waiting)} without an outcome yet`] : []),
  ].join(', ');
  return html`<svg class="bar" role="img" aria-label="${label}" width="100%" height="16">
<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="care" width="6" height="6"/><rect class="stripe" width="2" height="6"/></pattern></defs>
${segments(
  parts.filter(({ number }) => number > 0),
  done + waiting,
)}</svg>`;
}

/** Orders that needed a person and have been settled since are not drawn as open. */
function partsOf({ outcome, number, settled }: Share): { look: Look; number: number }[] {
  if (!needsPerson(outcome)) return [{ look: lookOf(outcome), number }];
  return [
    { look: 'hatched', number: number - settled },
    { look: 'idle', number: settled },
  ];
}

/** Very small parts are drawn wide enough to be seen; the bar is scaled so that all fit. */
function segments(parts: readonly { look: Look; number: number }[], total: number): Html[] {
  const widths = parts.map(({ number }) => Math.max((number / total) * 100, 1));
  const sum = widths.reduce((left, width) => left + width, 0);
  let x = 0;
  return parts.map(({ look }, index) => {
    const width = ((widths[index] ?? 0) / sum) * 100;
    const rect = html`<rect class="${look}" x="${x.toFixed(3)}%" width="${width.toFixed(3)}%" height="16"/>`;
    x += width;
    return index === 0
      ? rect
      : html`${rect}<rect class="gap" x="${(x - width).toFixed(3)}%" width="2" height="16"/>`;
  });
}

function tile({ outcome, number, settled, nameless }: Share): Html {
  const look = needsPerson(outcome) && settled === number ? 'idle' : lookOf(outcome);
  const since =
    settled === 0
      ? ''
      : settled === number
        ? '; all settled since'
        : `; ${count(settled)} settled since`;
  return html`<li class="${look}"><span class="number">${count(number)}</span>
<span class="word">${swatch(look)} ${outcomeWord(outcome)}</span><span class="meaning">${MEANINGS[outcome]}${rowsIn(number, nameless)}${since}</span></li>`;
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

/** Names what waits: after a sentence about the others, "they" would mean them. */
export function whereTheyWait({ orders: waiting, nameless, accepted }: Elsewhere): string {
  const [was, waits] = waiting === 1 ? ['was', 'waits'] : ['were', 'wait'];
  const what = openText(waiting, nameless);
  if (accepted === waiting)
    return `${what} ${was} accepted, and came back with rows that were not accepted, which wait in a newer batch.`;
  const some = `${count(accepted)} of them ${accepted === 1 ? 'was' : 'were'} accepted before.`;
  return `${what} came back and still ${waits} in a newer batch.${accepted === 0 ? '' : ` ${some}`}`;
}

/** What files in progress correct, by the names of these files. */
export function broughtText(story: Story): string {
  const { count: number, nameless } = broughtOf(story);
  if (number === 0) return '';
  const files = [...story.brought].map(([batch, { file }]) => fileTitle({ batch, file }));
  const more = files.length > FILES_NAMED ? ` and ${files.length - FILES_NAMED} more` : '';
  const [is, them] = number === 1 ? ['is', 'it'] : ['are', 'them'];
  return `${openText(number, nameless)} ${is} being corrected in ${files.slice(0, FILES_NAMED).join(', ')}${more}, which ${files.length === 1 ? 'is' : 'are'} not finished yet: do not correct ${them} again.`;
}

type Sent = Pick<
  Report,
  | 'counts'
  | 'nameless'
  | 'acceptedLater'
  | 'acceptedElsewhere'
  | 'discarded'
  | 'orderedBefore'
  | 'cancelledBy'
  | 'open'
  | 'file'
>;

/** How many orders of a finished file went out, and what became of the others, in one sentence; empty where that is clear. */
export function wentOutText(report: Sent): string {
  const { counts, nameless = 0, acceptedElsewhere: others = 0 } = report;
  const { orders: later, ofRows } = report.acceptedLater ?? { orders: 0, ofRows: 0 };
  const [went, all] = [counts.accepted + later, counts.orders - nameless + ofRows];
  if (all === 0 || counts.accepted === counts.orders) return '';
  if (went === 0) return noneWentOut(report, all);
  const when =
    later === 0
      ? ''
      : counts.accepted === 0
        ? ' after corrections'
        : `: ${count(counts.accepted)} at first and ${count(later)} later`;
  const which = went < all ? `${count(went)} of` : all === 1 ? 'The' : 'All';
  // Another file may have sent what was withdrawn. What two files count, somebody adds up.
  const from = isCancelled(report) || others > 0 ? ' from this file' : '';
  const rest = [...beforeTexts(report), ...elsewhereText(others), ...endedTexts(report)].map(
    (text) => `; ${text}`,
  );
  return `${which} ${all === 1 && went === all ? 'order' : orders(all)} went out${from}${when}${rest.join('')}.`;
}

/** Why no order of a file went out. Where a person needs to do something about all of them, the page says so above. */
function noneWentOut(report: Sent, all: number): string {
  const { nameless = 0, acceptedElsewhere: others = 0, orderedBefore } = report;
  const why = [
    ...(orderedBefore ? beforeTexts(report) : []),
    ...elsewhereText(others),
    ...endedTexts(report),
  ];
  if (why.length === 0 && !isCancelled(report)) return '';
  // Rows without an order number are not among the orders.
  const waiting = nameless > 0 ? 0 : openOf(report, all);
  if (waiting > 0) why.push(`${count(waiting)} ${waiting === 1 ? 'needs' : 'need'} you`);
  const reasons = why.length === 0 ? '' : `: ${why.join('; ')}`;
  return `${all === 1 ? 'Its order did not go' : `None of its ${orders(all)} went`} out from this file${reasons}.`;
}

/** How many need a person, without those that had been ordered otherwise: these are named, and may need one, too. */
function openOf(
  { counts, acceptedElsewhere: others = 0, discarded = 0, open, orderedBefore }: Sent,
  all: number,
): number {
  if (!orderedBefore?.other) return open;
  const named = orderedBefore.same + orderedBefore.other + others + counts.cancelled + discarded;
  return Math.max(0, Math.min(open, all - named));
}

/** What was decided not to go out. */
function endedTexts({ counts, discarded = 0 }: Sent): string[] {
  const text = (number: number, how: string) =>
    number === 0 ? [] : [`${count(number)} ${number === 1 ? 'was' : 'were'} ${how}`];
  return [...text(counts.cancelled, 'withdrawn'), ...text(discarded, 'discarded')];
}

function elsewhereText(others: number): string[] {
  return others === 0 ? [] : [`${count(others)} went out from another file`];
}

/** What did not go out because it is ordered. The reports of earlier versions do not say `orderedBefore`. */
function beforeTexts({
  file: own,
  counts,
  orderedBefore = { same: counts.duplicate, other: 0 },
}: Sent): string[] {
  const { same, other, files = [], batches = [] } = orderedBefore;
  // Its own name, as of a file that was dropped twice, reads as if that were this file.
  const whenOf = (i: number) => {
    const at = claimTimeOf(batches[i] ?? '');
    return at === undefined ? '' : ` (${moment(iso(at)).slice(0, 16)} UTC)`;
  };
  const titles = files.map((file, i) =>
    file === own ? `an earlier file of the same name${whenOf(i)}` : fileTitle({ batch: '', file }),
  );
  const named = titles.length === 0 ? '' : ` in ${titles.join(', ')}`;
  if (other === 0) return same === 0 ? [] : [`${count(same)} had been ordered before${named}`];
  if (same === 0)
    return [`${count(other)} had been ordered before, but not exactly as in this file`];
  return [
    `${count(same)} had been ordered before${named}, and ${count(other)} more not exactly as in this file`,
  ];
}
