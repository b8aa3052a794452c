import { escapeHidden } from '../../order/text.ts';

/** Markup that is safe to show; only `html` creates it. */
export type Html = { readonly markup: string };

/** The values that a template accepts; everything except Html is text and is escaped. */
export type HtmlPart = Html | readonly Html[] | string | number | undefined;

/**
 * Builds markup from a template. Escapes every text value for elements and quoted attributes, and shows
 * invisible characters as escapes; undefined shows nothing.
 */
export function html(template: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const markup = template.map((fixed, index) => fixed + markupOf(parts[index])).join('');
  return { markup };
}

function markupOf(part: HtmlPart): string {
  if (part === undefined) return '';
  if (typeof part === 'string') return escaped(visible(part));
  if (typeof part === 'number') return String(part);
  return 'markup' in part ? part.markup : part.map((each) => each.markup).join('');
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** The text with hidden characters escaped. Text longer than `longest` characters is cut and ends with an ellipsis. */
export function visible(text: string, longest = 2000): string {
  return escapeHidden(text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text);
}

/** A link to the fix file, by its name in the folder of the page. */
export function fixLink(name: string): Html {
  return html`<a class="fix" href="${encodeURIComponent(name.toWellFormed())}">${name}</a>`;
}

/** A link to a file that only the report's own folder has. */
export function reportLink(name: string): Html {
  return html`<a data-in-report href="${name}">${name}</a>`;
}

const IN_REPORT = /<a data-in-report href="[^"]*">([^<]*)<\/a>/g;

/**
 * The page for the folder of the settled file: links the fix file by its name there, and names the report's other files
 * by their path. Replacing in the finished text is safe, because quotes in data are escaped and ours are not.
 */
export function pageBeside(
  page: string,
  { report, fixes }: { report: string; fixes: readonly { name: string; placedAs: string }[] },
): string {
  const placed = page.replace(IN_REPORT, (_, name: string) => html`<code>${report}/${name}</code>`.markup);
  return fixes.reduce(
    (text, { name, placedAs }) => text.replaceAll(fixLink(name).markup, () => fixLink(placedAs).markup),
    placed,
  );
}

/** Marks a page with its batch, so that a later page of the batch can replace it. */
export function batchMark(batch: string): Html {
  return html`<meta name="po-sync-batch" content="${batch}">`;
}

/** The batch mark of a page; undefined when po-sync did not write the page. */
export function batchMarkIn(page: string): string | undefined {
  return /<meta name="po-sync-batch" content="[^"]*">/.exec(page)?.[0];
}
