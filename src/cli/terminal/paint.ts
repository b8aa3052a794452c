import { styleText } from 'node:util';
import type { Shell } from '../shell.ts';

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
