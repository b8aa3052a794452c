import { stamp } from '../../core/format.ts';
import type { Step } from '../../order/fixing.ts';
import type { Block, Text, View } from '../../views/view.ts';
import { type Format, hanging, type Paint, printable } from './print.ts';
import { table } from './table.ts';

/** A view for a terminal. */
export function viewText({ title, state, blocks }: View, format: Format): string {
  const { paint, columns = Number.POSITIVE_INFINITY } = format;
  const gap = title.length + 2 + state.text.length > columns ? '\n  ' : '  ';
  const head = `${paint('strong', printable(title))}${gap}${paint(state.tone, state.text)}\n`;
  const parts = blocks.map((block, i) => {
    const text = blockText(block, format);
    return i > 0 && block.kind === 'list' && text !== '' ? `\n${text}` : text;
  });
  return head + parts.join('');
}

/** Where the text of a fact, and that of an event, begins. */
const FACT = 16;
const EVENT = 27;

/** A part of a view. */
export function blockText(block: Block, format: Format): string {
  switch (block.kind) {
    case 'facts':
      return block.facts.map(([name, ...texts]) => factLines(name, texts, format)).join('');
    case 'list':
      return lines(block.texts, format);
    case 'table': {
      const rows = block.rows.map((row) =>
        row.map((text) => ({ text: partsText(text), tone: toneOf(text) })),
      );
      return table(block.columns, rows, format);
    }
    case 'timeline':
      return block.events.length === 0
        ? ''
        : `\n${block.events
            .flatMap(({ at, text, more = [] }) => [
              `  ${stamp(at)}  ${hanging(printable(text), EVENT, format)}\n`,
              ...more.map(
                (one) => `${' '.repeat(EVENT)}${hanging(printable(one), EVENT, format)}\n`,
              ),
            ])
            .join('')}`;
    case 'steps':
      return block.lines.length === 0
        ? ''
        : `\n${block.lines.map((step) => stepText(step, format)).join('')}`;
    case 'section': {
      const within = inset(format);
      const text = block.blocks
        .map((one) => {
          if (one.kind === 'facts') return blockText(one, format);
          return indented(one.kind === 'list' ? hung(one.texts, within) : blockText(one, within));
        })
        .join('');
      return text === ''
        ? ''
        : `\n${format.paint('strong', hanging(block.title, 0, format))}\n${text}`;
    }
  }
}

function factLines(name: string, texts: readonly Text[], format: Format): string {
  const each = texts.map((text) => hanging(painted(text, format.paint), FACT, format));
  return `  ${name.padEnd(FACT - 2)}${each.join(`\n${' '.repeat(FACT)}`)}\n`;
}

function hung(texts: readonly Text[], format: Format): string {
  return texts.map((text) => `${hanging(painted(text, format.paint), 2, format)}\n`).join('');
}

function lines(texts: readonly Text[], format: Format): string {
  return texts.map((text) => `  ${hanging(painted(text, format.paint), 2, format)}\n`).join('');
}

/** A command is not broken. */
function stepText(step: Step, format: Format): string {
  return typeof step === 'string'
    ? `${hanging(printable(step), 0, format)}\n`
    : `  ${printable(step.command)}\n`;
}

function painted(text: Text, paint: Paint): string {
  if (typeof text === 'string') return printable(text);
  return text
    .map((part) =>
      typeof part === 'string'
        ? printable(part)
        : paint(part.tone ?? 'plain', printable(part.text)),
    )
    .join('');
}

function partsText(text: Text): string {
  if (typeof text === 'string') return text;
  return text
    .map((part) => (typeof part === 'string' ? part : `${barText(part.share)}${part.text}`))
    .join('');
}

/** Characters of a bar. */
const BAR = 8;

function barText(share: number | undefined): string {
  if (share === undefined) return '';
  const full = Math.floor(Math.min(share, 1) * BAR);
  return `${'█'.repeat(full)}${'░'.repeat(BAR - full)} `;
}

function toneOf(text: Text) {
  const [part] = typeof text === 'string' ? [] : text;
  return typeof part === 'object' ? (part.tone ?? 'plain') : 'plain';
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

/** Leaves room for the indentation. */
function inset({ columns, ...format }: Format): Format {
  return { ...format, columns: columns === undefined ? undefined : columns - 2 };
}
