import { styleText } from 'node:util';
import type { Shell } from '../shell.ts';

/** How a text stands out; what it says is told in words too, for those who see no colour. */
export type Tone = 'plain' | 'strong' | 'quiet' | 'good' | 'doubtful' | 'bad';

export type Paint = (tone: Tone, text: string) => string;

const STYLES = { strong: 'bold', quiet: 'dim', good: 'green', doubtful: 'yellow', bad: 'red' } as const;

/** Colour on a terminal, unless `NO_COLOR` is set; elsewhere the text as it is. */
export function createPaint({ isTTY, env }: Pick<Shell, 'isTTY' | 'env'>): Paint {
  if (!isTTY || env['NO_COLOR'] !== undefined) return (_, text) => text;
  return (tone, text) => (tone === 'plain' ? text : styleText(STYLES[tone], text, { validateStream: false }));
}
