import { count, outcomeWord } from '../../core/format.ts';
import {
  lettersWithoutReport,
  withoutReportText,
} from '../../operate/batches/open-dead-letters.ts';
import { type Html, html, timeText } from '../../report/page/html.ts';
import { openText } from '../../report/story.ts';
import { KINDS, readLetterPage } from '../api/dead-letter-routes.ts';
import type { Content, PageRequest } from './frame.ts';
import { messageOf, unsentNote } from './letter-message.ts';
import {
  batchPath,
  cell,
  filterForm,
  isFiltered,
  letterPath,
  link,
  nextLink,
  numberLink,
  select,
  table,
  textField,
} from './parts.ts';
import { planForm } from './plan-pages.ts';

/** Groups shown; the filters find the others. */
const GROUPS = 20;

/** Open dead letters: groups by error, and one a row, with a search. */
export async function deadLettersPage({ api, url, mayOperate }: PageRequest): Promise<Content> {
  const { groups, onlyWaits, ...page } = await readLetterPage(api, url);
  const names = api.base.config.sources.map(({ name }) => name);
  const form = filterForm(url, '/dead-letters', [
    textField(url, 'q', 'Order, article or text'),
    select(url, 'kind', 'Kind', KINDS, KINDS.map(outcomeWord)),
    select(url, 'source', 'Source', names),
    select(url, 'already', 'Already in another file', ['true'], ['yes']),
    ...['signature', 'batch'].flatMap((name) =>
      url.searchParams.get(name) ? [textField(url, name, name)] : [],
    ),
  ]);
  const nameless = groups.reduce((sum, group) => sum + group.nameless, 0);
  const groupRows = groups
    .slice(0, GROUPS)
    .map((group) => [
      link(
        `/dead-letters?kind=${group.kind}&signature=${encodeURIComponent(group.signature)}`,
        openText(group.count, group.nameless),
      ),
      html`${outcomeWord(group.kind)}`,
      html`${group.isExample ? 'for example: ' : ''}${group.message}`,
      cell(group.batches),
      timeText(group.lastAt),
    ]);
  const rows = page.items.map((row) => [
    row.location.line === 0
      ? numberLink(row.purchaseOrderNumber)
      : link(letterPath(row.id), row.purchaseOrderNumber || 'no number'),
    html`${outcomeWord(row.kind)}`,
    html`${messageOf(row)}${row.now === undefined ? '' : ` (now ${row.now})`}`,
    link(batchPath(row.batch), row.file),
    timeText(row.lastAt),
  ]);
  const lost = isFiltered(url) ? [] : await lettersWithoutReport({}, api.base);
  const none =
    lost.length > 0
      ? undefined
      : html`<p>${isFiltered(url) ? 'No orders match.' : 'No order needs a person.'}</p>`;
  const body = html`<h1>Orders that need you</h1>
${form}
${unsentNote(api)}
${lost.map((one) => html`<p>${withoutReportText(one)}</p>`)}
${page.total === 0 ? none : html`<p>${openText(page.total, nameless)} ${page.total === 1 ? 'needs' : 'need'} a person. <span class="quiet">An order counts here once for each file in which it needs a person; on the page Overview, it counts once.</span></p>`}
${url.searchParams.get('q') ? html`<p>Only orders that need a person are searched here. Any other is found by its number on the page ${link('/order', 'Order')}.</p>` : undefined}
${alreadyNote(url, page, onlyWaits)}
${mayOperate && page.total > 0 && !(onlyWaits && page.already === page.total) ? planForm(url, page.total, page.kinds) : undefined}
${groupRows.length === 0 ? undefined : html`<h2>By error</h2>${table('Orders that need you, by error', ['orders', 'kind', 'message', 'batches', 'last'], groupRows)}`}
${groups.length > GROUPS ? html`<p>${groups.length - GROUPS} more groups match.</p>` : undefined}
${rows.length === 0 ? undefined : html`<h2>Orders</h2>${table('Orders that need you', ['order', 'kind', 'message', 'file', 'last'], rows)}`}
${nextLink(url, page.next)}`;
  return { title: 'Orders that need you', body };
}

type Marked = { already: number; total: number; isLeast: boolean };

/** How many of the orders that are listed another file has already, and where these are listed alone. `onlyWaits`: all in progress. */
function alreadyNote(
  url: URL,
  { already, total, isLeast }: Marked,
  onlyWaits: boolean,
): Html | undefined {
  if (already === 0) return undefined;
  const is = already === 1 ? 'is' : 'are';
  const found = onlyWaits
    ? 'in progress in another file'
    : 'in another file already, accepted or in progress';
  const wait = `Wait for ${already === 1 ? 'its outcome' : 'their outcomes'}: do not correct ${already === 1 ? 'it' : 'them'} again.`;
  const said = `${isLeast ? 'At least ' : ''}${count(already)} of them ${is} ${found}.${onlyWaits ? ` ${wait}` : ''}`;
  const compare =
    'Compare the items of those that were accepted: if it is the same order, discard it here. Wait for the outcome of those in progress.';
  if (already === total) return html`<p>${said} ${onlyWaits ? '' : compare}</p>`;
  const query = new URLSearchParams(url.searchParams);
  query.set('already', 'true');
  query.delete('after');
  const alone = link(`/dead-letters?${query.toString()}`, 'Show only these');
  return html`<p>${said} ${alone}${onlyWaits ? '.' : ', to compare them and discard them together.'}</p>`;
}
