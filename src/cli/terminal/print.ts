import { stripVTControlCharacters, styleText } from 'node:util';
import { errorDocument, explained, PoSyncError } from '../../core/errors.ts';
import { textWidth } from '../../core/format.ts';
import { escapeHidden, escapeHiddenInJson } from '../../order/text.ts';
import type { Tone } from '../../views/view.ts';
import type { Shell } from '../shell.ts';

/** Text from a file or a server, safe for a terminal: hidden characters are shown as escapes. */
export function printable(text: string): string {
  return escapeHidden(text);
}

/** A value as JSON, safe for a terminal; it parses to the same value. */
export function printableJson(value: unknown): string {
  return escapeHiddenInJson(JSON.stringify(value, null, 2));
}

/** Prints the one JSON document of a command that runs with `--json`. */
export function printJson(shell: Pick<Shell, 'out'>, document: unknown): void {
  shell.out(`${printableJson(document)}\n`);
}

/** An error for the log. */
export function errorFacts(thrown: unknown): { code: string; reason: string; remedy?: string } {
  const { code, message: reason, remedy } = errorDocument(thrown);
  return { code, reason, ...(remedy === null ? {} : { remedy }) };
}

/**
 * An error as text: `po-sync: message`, the remedy indented below it; the stack of an unexpected error. `columns`: the
 * width of the terminal that shows it.
 */
export function errorText(thrown: unknown, columns?: number): string {
  const error = explained(thrown);
  if (!(error instanceof PoSyncError))
    return `${PROGRAM}${lines(error.stack ?? error.message, 0)}\n`;
  const remedy = error.remedy === undefined ? '' : `  ${lines(error.remedy, 2, columns)}\n`;
  return `${PROGRAM}${lines(error.message, 0, columns)}\n${remedy}`;
}

const PROGRAM = 'po-sync: ';

function lines(text: string, indent: number, columns?: number): string {
  return text
    .split('\n')
    .map((line, i) =>
      hanging(printable(line), indent === 0 && i === 0 ? PROGRAM.length : indent, columns),
    )
    .join(`\n${' '.repeat(indent)}`);
}

export type Paint = (tone: Tone, text: string) => string;

/** `columns`: the width that tables must fit; undefined for pipes. */
export type Format = { paint: Paint; columns: number | undefined };
type Width = number | undefined | Pick<Format, 'columns'>;

const STYLES = {
  strong: 'bold',
  quiet: 'dim',
  good: 'green',
  doubtful: 'yellow',
  bad: 'red',
} as const;

/** Colors text on a terminal, unless `NO_COLOR` is set. */
export function createPaint({ isTTY, env }: Pick<Shell, 'isTTY' | 'env'>): Paint {
  if (!isTTY || env['NO_COLOR'] !== undefined) return (_, text) => text;
  return (tone, text) =>
    tone === 'plain' ? text : styleText(STYLES[tone], text, { validateStream: false });
}

export function formatOf(shell: Pick<Shell, 'isTTY' | 'env' | 'columns'>): Format {
  const { isTTY, columns } = shell;
  return {
    paint: createPaint(shell),
    columns: isTTY ? columns : undefined,
  };
}

/**
 * Makes sure that the person agrees: `--yes`, or "y" at the terminal. False: they declined. `remedy`: where `--yes` alone
 * would not do. Throws PoSyncError `not-confirmed` if nobody can be asked.
 */
export async function confirmation(
  asked: string,
  { yes, json, remedy = AGREE }: { yes: boolean; json: boolean; remedy?: string },
  shell: Pick<Shell, 'ask' | 'err' | 'columns'>,
): Promise<boolean> {
  if (yes) return true;
  const question = printable(asked);
  const answer = json
    ? undefined
    : await shell.ask(`${hanging(`${question} [y/N]`, 0, shell.columns - 2)} `);
  const isYes = /^y(es)?$/i.test(answer?.trim() ?? '');
  if (answer !== undefined && !isYes) shell.err('Nothing was changed.\n');
  if (answer !== undefined) return isYes;
  throw new PoSyncError('not-confirmed', `${question} Confirmation required.`, { remedy });
}

const AGREE = 'Run again with --yes, or with --dry-run to see what would happen.';

/** A text in lines, broken between words; in one line where its width is undefined. */
function wrapped(text: string, width: Width, indent = 0): string[] {
  const columns = typeof width === 'object' ? width.columns : width;
  if (columns === undefined) return [text];
  const [start = ''] = /^ */.exec(text) ?? [];
  const [first = '', ...words] = text.slice(start.length).split(' ');
  const lines = [start + first];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (textWidth(stripVTControlCharacters(longer)) <= columns - indent)
      lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** A text in lines of which all but the first begin with `indent` spaces; the first begins after as many characters. */
export function hanging(text: string, indent: number, width: Width): string {
  return wrapped(text, width, indent).join(`\n${' '.repeat(indent)}`);
}

/** Sentences, one a line; on a terminal the lines are broken between words. */
export function sentences(text: string, shell: Pick<Shell, 'isTTY' | 'columns'>): string {
  const columns = shell.isTTY ? shell.columns : undefined;
  return text
    .split('\n')
    .map((line) => hanging(printable(line), 0, columns))
    .join('\n');
}
