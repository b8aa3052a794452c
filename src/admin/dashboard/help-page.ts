import { readFile } from 'node:fs/promises';
import { type Html, html } from '../../report/page/html.ts';
import type { Content } from './frame.ts';

const DOCUMENT = new URL('../../../docs/for-clerks.md', import.meta.url);

/** The pictures of the document, which are served as assets, by their names in it. */
export const PICTURES: Readonly<Record<string, URL>> = Object.fromEntries(
  ['report-red.png', 'report-fixed.png'].map((name) => [name, new URL(name, DOCUMENT)]),
);

/** Builds the page that shows the document for people who correct orders. The document is read once, when it is asked for. */
export function createHelpPage(file: URL = DOCUMENT): () => Promise<Content> {
  let read: Promise<Html> | undefined;
  return async () => {
    read ??= readFile(file, 'utf8').then(renderDocument);
    const shown = await read.catch(() => undefined);
    if (shown !== undefined)
      return { title: 'Help', body: html`<div class="document">${shown}</div>` };
    read = undefined;
    const body = html`<h1>Help</h1>
<p role="alert">This page cannot be shown, because docs/for-clerks.md of the program cannot be read.</p>
<p>Ask your operator to install po-sync again. What to do is also in the report next to each file.</p>`;
    return { title: 'Help', body };
  };
}

/** Markdown as markup. Of its links only those within the page remain: the other documents are not served. */
export async function renderDocument(text: string): Promise<Html> {
  const { Marked } = await import('marked');
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: title }) {
        return `<h${depth} id="${idOf(title)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const shown = this.parser.parseInline(tokens);
        return href.startsWith('#')
          ? html`<a href="${href}">${{ markup: shown }}</a>`.markup
          : shown;
      },
      image({ href, text: says }) {
        return (
          Object.hasOwn(PICTURES, href)
            ? html`<img src="/assets/${href}" alt="${says}">`
            : html`${says}`
        ).markup;
      },
      html: ({ text: raw }) => html`${raw}`.markup,
    },
  });
  return { markup: await marked.parse(text) };
}

/** The id of a heading, as on GitHub. */
function idOf(title: string): string {
  const plain = title.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '');
  return plain.replaceAll(' ', '-');
}
