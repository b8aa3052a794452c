import { styleText } from 'node:util';
import { type ErrorFacts, explained, PoSyncError } from '../../core/errors.ts';
import { escapeHidden, escapeHiddenInJson } from '../../order/text.ts';
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

/** An error in JSON output. `internal` is an error that po-sync did not expect: a bug. */
export type ErrorDocument = { code: string; message: string; remedy: string | null; facts: ErrorFacts };

export function errorDocument(thrown: unknown): ErrorDocument {
  const error = explained(thrown);
  const { message } = error;
  if (!(error instanceof PoSyncError)) return { code: 'internal', message, remedy: null, facts: {} };
  return { code: error.code, message, remedy: error.remedy ?? null, facts: error.facts };
}

/** An error as text: `po-sync: message`, the remedy indented below it; the stack of an unexpected error. */
export function errorText(thrown: unknown): string {
  const error = explained(thrown);
  if (!(error instanceof PoSyncError)) return `po-sync: ${lines(error.stack ?? error.message, '')}\n`;
  const remedy = error.remedy === undefined ? '' : `  ${lines(error.remedy, '  ')}\n`;
  return `po-sync: ${lines(error.message, '')}\n${remedy}`;
}

function lines(text: string, indent: string): string {
  return text.split('\n').map(printable).join(`\n${indent}`);
}

/** How text is emphasized. Color never carries information that the words do not. */
export type Tone = 'plain' | 'strong' | 'quiet' | 'good' | 'doubtful' | 'bad';

export type Paint = (tone: Tone, text: string) => string;

/** `columns`: the width that tables must fit; undefined for pipes. */
export type Format = { paint: Paint; columns: number | undefined };

const STYLES = { strong: 'bold', quiet: 'dim', good: 'green', doubtful: 'yellow', bad: 'red' } as const;

/** Colors text on a terminal, unless `NO_COLOR` is set. */
export function createPaint({ isTTY, env }: Pick<Shell, 'isTTY' | 'env'>): Paint {
  if (!isTTY || env['NO_COLOR'] !== undefined) return (_, text) => text;
  return (tone, text) => (tone === 'plain' ? text : styleText(STYLES[tone], text, { validateStream: false }));
}

export function formatOf(shell: Pick<Shell, 'isTTY' | 'env' | 'columns'>): Format {
  return { paint: createPaint(shell), columns: shell.isTTY ? shell.columns : undefined };
}

/**
 * Makes sure that the person agrees: `--yes`, or "y" at the terminal. False: they declined.
 * Throws PoSyncError `not-confirmed` if nobody can be asked.
 */
export async function confirmation(
  asked: string,
  { yes, json }: { yes: boolean; json: boolean },
  shell: Pick<Shell, 'ask'>,
): Promise<boolean> {
  if (yes) return true;
  const question = printable(asked);
  const answer = json ? undefined : await shell.ask(`${question} [y/N] `);
  if (answer !== undefined) return /^y(es)?$/i.test(answer.trim());
  throw new PoSyncError('not-confirmed', `${question} Confirmation required.`, {
    remedy: 'Run again with --yes, or with --dry-run to see what would happen.',
  });
}
