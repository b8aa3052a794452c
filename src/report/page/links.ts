import { type Html, html } from './html.ts';

/** A link to the fix file, by its name in the folder where the page stands. */
export function fixLink(name: string): Html {
  return html`<a class="fix" href="${encodeURIComponent(name.toWellFormed())}">${name}</a>`;
}

/** A link to another file of the report, which only the report's own folder has. */
export function reportLink(name: string): Html {
  return html`<a data-in-report href="${name}">${name}</a>`;
}

const IN_REPORT = /<a data-in-report href="[^"]*">([^<]*)<\/a>/g;

/**
 * The page as it stands beside the settled file: it links the fix file by the name it has there, and names the
 * report's other files by their place. Safe on the finished text: quotes of the data are escaped in it, ours are not.
 */
export function pageBeside(page: string, place: { report: string; fix?: { name: string; laidAs: string } }): string {
  const placed = page.replace(IN_REPORT, (_, name: string) => html`<code>${place.report}/${name}</code>`.markup);
  if (place.fix === undefined) return placed;
  return placed.replaceAll(fixLink(place.fix.name).markup, () => fixLink(place.fix?.laidAs ?? '').markup);
}

/** Marks a page with its batch, so that a later one may take its place. */
export function batchMark(batch: string): Html {
  return html`<meta name="po-sync-batch" content="${batch}">`;
}

/** The mark that a page bears; undefined when it is no page of ours. */
export function markIn(page: string): string | undefined {
  return /<meta name="po-sync-batch" content="[^"]*">/.exec(page)?.[0];
}
