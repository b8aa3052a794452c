import { outcomeWord } from '../../core/format.ts';
import {
  lettersWithoutReport,
  withoutReportText,
} from '../../operate/batches/open-dead-letters.ts';
import { html } from '../../report/page/html.ts';
import { openText } from '../../report/story.ts';
import { groupTable, letterTable } from '../../views/letter.ts';
import { KINDS, readLetterPage } from '../api/read-letters.ts';
import type { Content, PageRequest } from './frame.ts';
import { filterForm, isFiltered, link, nextLink, select, textField } from './parts.ts';
import { planForm } from './plan-pages.ts';
import { viewPart } from './view-part.ts';

/** Groups shown; the filters find the others. */
const GROUPS = 20;

/** Open dead letters: groups by error, and one a row, with a search. */
export async function deadLettersPage({ api, url, mayOperate }: PageRequest): Promise<Content> {
  const { groups, ...page } = await readLetterPage(api, url);
  const names = api.base.config.sources.map(({ name }) => name);
  const form = filterForm(url, '/dead-letters', [
    textField(url, 'q', 'Order, article or text'),
    select(url, 'kind', 'Kind', KINDS, KINDS.map(outcomeWord)),
    select(url, 'source', 'Source', names),
    ...['signature', 'batch'].flatMap((name) =>
      url.searchParams.get(name) ? [textField(url, name, name)] : [],
    ),
  ]);
  const nameless = groups.reduce((sum, group) => sum + group.nameless, 0);
  const having = (await api.tables()).withLetters('done').keys();
  const lost = isFiltered(url) ? [] : await lettersWithoutReport(api.base, having);
  const none =
    lost.length > 0
      ? undefined
      : html`<p>${isFiltered(url) ? 'No orders match.' : 'No order needs a person.'}</p>`;
  const body = html`<h1>Orders that need you</h1>
${form}
${lost.map((one) => html`<p>${withoutReportText(one)}</p>`)}
${page.total === 0 ? none : html`<p>${openText(page.total, nameless)} ${page.total === 1 ? 'needs' : 'need'} a person. <span class="quiet">An order counts here once for each file in which it needs a person; on the page Overview, it counts once.</span></p>`}
${url.searchParams.get('q') ? html`<p>Only orders that need a person are searched here. Any other is found by its number on the page ${link('/order', 'Order')}.</p>` : undefined}
${mayOperate && page.total > 0 ? planForm(url, page.total, page.kinds) : undefined}
${viewPart([{ kind: 'section', title: 'By error', blocks: [groupTable(groups.slice(0, GROUPS))] }], 'Errors')}
${groups.length > GROUPS ? html`<p>${groups.length - GROUPS} more groups match.</p>` : undefined}
${viewPart([{ kind: 'section', title: 'Orders', blocks: [letterTable(page.items)] }], 'Orders')}
${nextLink(url, page.next)}`;
  return { title: 'Orders that need you', body };
}
