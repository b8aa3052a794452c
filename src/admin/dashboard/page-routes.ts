import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { PoSyncError, toError } from '../../core/errors.ts';
import { iso } from '../../core/format.ts';
import { noDelivery } from '../../operate/delivery/pause-delivery.ts';
import { type Html, html, timeText } from '../../report/page/html.ts';
import { pauseText } from '../../wording/pause.ts';
import type { ApiContext, Snapshot } from '../api/api-context.ts';
import {
  type AdminRequest,
  type Principal,
  problemReply,
  type Reply,
  type Route,
} from '../http/route.ts';
import { batchesPage, batchPage } from './batch-pages.ts';
import { deadLettersPage } from './dead-letter-list.ts';
import { deadLetterPage } from './dead-letter-pages.ts';
import { type Content, framePage, listLink, type PageRequest } from './frame.ts';
import { orderPage } from './order-page.ts';
import { badge } from './parts.ts';
import { planPage } from './plan-pages.ts';
import { sourcesPage } from './sources-page.ts';
import { overviewPage } from './state-pages.ts';
import { previewPage, uploadPage } from './upload-pages.ts';

const PARAMETERS = new Set(
  'after batch kind number open outcome q picture signature source state'.split(' '),
);

type Render = (request: PageRequest) => Promise<Content>;

/** Pages that show the last state, or none, while Redis is not reachable. */
const LASTING = ['/', '/sources'];

const PAGES: readonly (readonly [path: string, render: Render])[] = [
  ['/', overviewPage],
  ['/batches', batchesPage],
  ['/batches/:batch', batchPage],
  ['/dead-letters', deadLettersPage],
  ['/dead-letters/:id', deadLetterPage],
  ['/order', orderPage],
  ['/plans/:plan', planPage],
  ['/upload', uploadPage],
  ['/upload/:upload', previewPage],
  ['/sources', sourcesPage],
];

/** The pages of the dashboard. They are rendered here and readable without JavaScript. */
export function pageRoutes(api: ApiContext): Route[] {
  return PAGES.map(([path, render]) => ({
    method: 'GET',
    path,
    handle: (request) => showPage(api, request, render),
  }));
}

/** The answer to a person at an address without a page. */
export function missingPage(api: ApiContext): (request: AdminRequest) => Promise<Reply> {
  const body = html`<h1>Not found</h1><p role="alert">There is no page at this address.</p><p>${listLink('/')}</p>`;
  return (request) =>
    showPage(api, request, async () => ({ title: 'Not found', body, status: 404 }));
}

/** A page for the person of a request. */
export async function showPage(
  api: ApiContext,
  request: AdminRequest,
  render: Render,
  status = 200,
): Promise<Reply> {
  const { environment, environments } = api.base.config;
  const isProtected = environments[environment]?.protected === true;
  const principal: Principal = request.principal ?? { role: 'read', who: '' };
  const note = api.notes.find(request.url.searchParams.get('note') ?? '');
  const url = new URL(request.url);
  // A page repeats only parameters that pages use: an address may contain anything, a token included.
  for (const name of new Set(url.searchParams.keys()))
    if (!PARAMETERS.has(name)) url.searchParams.delete(name);
  const back = url.pathname + url.search;
  const mayOperate = principal.role === 'operate';
  const confirm = isProtected ? environment : undefined;
  const snapshot = await api.snapshot().catch(() => undefined);
  const asOf = iso(snapshot?.asOf ?? api.base.store.time.now());
  const header = { environment, isProtected, principal, state: stateOf(snapshot), asOf };
  try {
    const build = () => render({ api, url, params: request.params, mayOperate, back, confirm });
    const page = await (LASTING.includes(url.pathname) ? build() : api.withRedis(build));
    const tone = note?.isGood ? (note.isOpen ? 'doubt' : 'good') : 'bad';
    const shown =
      note &&
      html`<p class="note ${tone}" role="status">${note.text} <span class="quiet">${timeText(note.at)}</span></p>`;
    const body = html`${shown}${page.body}`;
    const reply = framePage(
      { title: page.title, body, header, path: url.pathname, scripts: ['live.js'] },
      page.status ?? status,
    );
    // With its address: to an address with a fragment, a browser would only scroll.
    return page.refresh === undefined
      ? reply
      : { ...reply, headers: { refresh: `${page.refresh}; url=${back}` } };
  } catch (thrown) {
    const { status } = problemReply(thrown);
    const error = toError(thrown);
    const known =
      error instanceof PoSyncError
        ? error
        : new PoSyncError('internal', 'This page could not be built.', {
            remedy: 'Load it again. If it fails again, read the log of the daemon.',
          });
    const title = LATER[known.code] ?? (status === 404 ? 'Not found' : 'This did not work');
    const remedy =
      status === 503 ? 'Nothing is lost. This page reloads automatically.' : known.remedy;
    const body = html`<h1>${title}</h1>
<p role="${status === 503 ? 'status' : 'alert'}">${known.message}</p>
<p>${remedy}</p><p>${onward(status, url, back)}</p>`;
    const frame = { title, body, header, path: url.pathname, scripts: ['live.js'] };
    const reply = framePage(frame, status);
    return status === 503 ? { ...reply, headers: { refresh: `1; url=${back}` } } : reply;
  }
}

/** The link that leads on: with the same parameters, a page that refuses them would be refused again. */
function onward(status: number, { pathname }: URL, back: string): Html {
  if (status === 404) return listLink(pathname);
  return status === 400
    ? html`<a href="${pathname}">Show it without this filter</a>`
    : html`<a href="${back}">Try again</a>`;
}

/** Titles of pages that cannot be shown yet; the browser loads them again every second. */
const LATER: Readonly<Record<string, string>> = {
  'lists-being-read': 'One moment',
  'redis-away': 'Redis is not reachable',
};

/** The state that every page shows: pauses, Redis, daemons. */
function stateOf(snapshot: Snapshot | undefined): Html {
  if (snapshot === undefined) return badge('bad', 'Redis is not reachable');
  const { status, asOf, awaySince } = snapshot;
  if (awaySince !== undefined) {
    return html`${badge('bad', 'Redis is not reachable')} since ${timeText(iso(awaySince))}; shown as of ${timeText(iso(asOf))}`;
  }
  const [pause] = status.pauses;
  // Only a fixed time: a page that stays open does not count on.
  if (pause)
    return html`${badge('bad', 'Paused')} since ${timeText(iso(pause.since))}: ${pauseText(pause)}`;
  if (status.daemons.length === 0) return badge('bad', 'No daemon is running');
  const missing = noDelivery(status.daemons);
  if (missing !== undefined) return badge('bad', missing.replace('no', 'No'));
  return badge('good', 'Delivering');
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** The scripts, styles and pictures of the pages, read from disk once. They contain no data, so they need no login. */
export function assetRoute(): Route {
  const read = new Map<string, Promise<Buffer>>();

  function load(name: string) {
    const known = read.get(name) ?? readFile(new URL(`./assets/${name}`, import.meta.url));
    read.set(name, known);
    return known;
  }

  return {
    method: 'GET',
    path: '/assets/:name',
    needs: 'nobody',
    async handle({ params: { name = '' } }) {
      const type = TYPES[extname(name)];
      if (type === undefined || !/^[a-z][a-z0-9-]*\.[a-z]+$/.test(name)) throw unknownAsset(name);
      const body = await load(name).catch(() => {
        read.delete(name);
        throw unknownAsset(name);
      });
      return { status: 200, type, body, headers: { 'cache-control': 'private, max-age=60' } };
    },
  };
}

function unknownAsset(name: string): PoSyncError {
  return new PoSyncError('asset-unknown', `Asset ${name} not found.`);
}
