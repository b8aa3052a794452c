import { type Html, html, timeText } from '../../report/page/html.ts';
import type { ApiContext } from '../api/api-context.ts';
import type { Principal, Reply } from '../http/route.ts';

/** What a page is built from. `back`: its own address, to which its forms lead back. */
export type PageRequest = {
  api: ApiContext;
  url: URL;
  params: Readonly<Record<string, string>>;
  mayOperate: boolean;
  back: string;
  /** What a protected environment asks a person to enter. */
  confirm: string | undefined;
};

/** A page. `refresh`: seconds until it is loaded again. `status`: of its answer; 200 when absent. */
export type Content = {
  title: string;
  body: Html;
  refresh?: number | undefined;
  status?: number;
};

/** A complete page. */
type Page = {
  title: string;
  body: Html;
  /** ES modules among the assets. */
  scripts?: readonly string[];
  /** What is shown above every page. */
  header?: {
    environment: string;
    isProtected: boolean;
    principal: Principal;
    state?: Html;
    asOf: string;
  };
  /** The path of the page, which its link in the navigation marks. */
  path?: string;
};

/** The pages that exist, in the order of the navigation. */
const PAGES: readonly (readonly [path: string, title: string])[] = [
  ['/', 'Overview'],
  ['/batches', 'Batches'],
  ['/dead-letters', 'Orders that need you'],
  ['/order', 'Order'],
  ['/upload', 'Upload'],
  ['/sources', 'Sources'],
];

/** Leads from a page of one thing, which does not exist, to the page of all. */
export function listLink(path: string): Html {
  const first = path.startsWith('/plans') ? '/dead-letters' : `/${path.split('/')[1] ?? ''}`;
  const [href, title] = PAGES.find(([one]) => one === first) ?? ['/', 'Overview'];
  return html`<a href="${href}">${title}</a>`;
}

/** A complete document. It is readable without its scripts. */
export function framePage({ title, body, scripts = [], header, path }: Page, status = 200): Reply {
  const modules = scripts.map(
    (name) => html`<script type="module" src="/assets/${name}"></script>`,
  );
  const markup = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · po-sync</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/dashboard.css">
${modules}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${header && headerOf(header, path)}
<main id="main" tabindex="-1">
${body}
</main>
</body>
</html>
`.markup;
  return { status, type: 'text/html; charset=utf-8', body: `<!doctype html>\n${markup}` };
}

function headerOf(
  { environment, isProtected, principal, state, asOf }: NonNullable<Page['header']>,
  path?: string,
): Html {
  const links = PAGES.map(([href, title]) => {
    const isHere = href === '/' ? path === '/' : path?.startsWith(href);
    return isHere
      ? html`<a href="${href}" aria-current="page">${title}</a>`
      : html`<a href="${href}">${title}</a>`;
  });
  const role = principal.role === 'operate' ? 'may operate' : 'may read';
  const person =
    principal.who === ''
      ? html`${role} <a href="/login">Sign in</a>`
      : html`${principal.who}, ${role}`;
  const out =
    principal.who === ''
      ? undefined
      : html`<form method="post" action="/logout"><button class="quiet">Sign out</button></form>`;
  return html`<header>
<strong class="environment${isProtected ? ' protected' : ''}">${environment}</strong>
<nav aria-label="Pages">${links}</nav>
<div class="state" id="state" aria-live="polite">${state}</div>
<div class="person">${person} ${out}</div>
<div class="paper">as of ${timeText(asOf)}</div>
</header>`;
}
