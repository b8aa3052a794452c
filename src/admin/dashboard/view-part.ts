import { iso } from '../../core/format.ts';
import type { Step } from '../../order/fixing.ts';
import { type Html, html, timeText } from '../../report/page/html.ts';
import type { Block, Subject, Text, Tone } from '../../views/view.ts';
import { badge, batchPath, facts, letterPath, link, orderPath, table } from './parts.ts';

/** The blocks of a view on a page. `name`: of its tables, for a screen reader. */
export function viewPart(blocks: readonly Block[], name: string): Html {
  return html`${blocks.map((block) => blockPart(block, name))}`;
}

function blockPart(block: Block, name: string): Html {
  switch (block.kind) {
    case 'facts':
      return facts(block.facts.map(([title, ...lines]) => [title, withBreaks(lines)]));
    case 'list':
      return block.texts.length === 0
        ? html``
        : html`<ul class="items">${block.texts.map((text) => html`<li>${textPart(text)}</li>`)}</ul>`;
    case 'table': {
      const titles = block.columns.map(({ title }) => title);
      return block.rows.length === 0
        ? html``
        : table(
            name,
            titles,
            block.rows.map((row) => row.map(textPart)),
          );
    }
    case 'timeline': {
      const rows = block.events.map(({ at, text, more = [], link: to }) => [
        timeText(iso(at)),
        html`${textPart(text)}${to && html` (${link(pathOf(to.about), to.text)})`}${more.map((one) => html`<div class="quiet">${one}</div>`)}`,
      ]);
      return html`<h2>What happened</h2>${rows.length === 0 ? html`<p>Nothing is recorded.</p>` : table('What happened', ['at', 'event'], rows)}`;
    }
    case 'steps':
      return stepsPart(block.lines);
    case 'section': {
      const body = viewPart(block.blocks, block.title);
      return body.markup === '' ? html`` : html`<h2>${block.title}</h2>${body}`;
    }
  }
}

/** Sentences, and commands for somebody who has a terminal. */
function stepsPart(lines: readonly Step[]): Html {
  const parts = lines.map((step) =>
    typeof step === 'string'
      ? html`${step} `
      : html`<code class="command">${step.command}</code><br>`,
  );
  return lines.length === 0 ? html`` : html`<p>${parts}</p>`;
}

function withBreaks(lines: readonly Text[]): Html {
  return html`${lines.map((line, i) => html`${i === 0 ? '' : html`<br>`}${textPart(line)}`)}`;
}

/** A text on a page, with its links. */
function textPart(text: Text): Html {
  if (typeof text === 'string') return html`${text}`;
  return html`${text.map((part) => {
    if (typeof part === 'string') return html`${part}`;
    const { text: words, tone = 'plain', about, share } = part;
    const bar =
      share === undefined
        ? undefined
        : html`<progress max="1" value="${share}" aria-label="done"></progress> `;
    const shown = about ? link(pathOf(about), words) : html`${bar}${words}`;
    return tone === 'plain' ? shown : html`<span class="${TONES[tone]}">${shown}</span>`;
  })}`;
}

/** How a page shows a tone. */
const TONES = {
  plain: 'quiet',
  strong: 'quiet',
  quiet: 'quiet',
  good: 'good',
  doubtful: 'doubt',
  bad: 'bad',
} as const;

/** A state as a word with a mark. */
export function stateBadge({ text, tone }: { text: string; tone: Tone }): Html {
  return badge(TONES[tone], text);
}

function pathOf(about: Subject): string {
  if ('batch' in about) return batchPath(about.batch);
  if ('order' in about) return orderPath(about.order);
  if ('letter' in about) return letterPath(about.letter);
  const filter = new URLSearchParams(about.letters).toString();
  return filter === '' ? '/dead-letters' : `/dead-letters?${filter}`;
}
