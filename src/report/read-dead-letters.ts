import { join } from 'node:path';
import type { DeadLetter } from '../order/dead-letter.ts';
import { readText } from './read-text.ts';
import { splitLines } from './split-lines.ts';

/**
 * The entries of a report's `dead-letters.json`, one at a time, as `letterList` wrote them: each on a line of its own.
 * (Node's readline would also cut at U+2028, which JSON lets stand within a text.)
 */
export async function* readDeadLetters(folder: string): AsyncGenerator<DeadLetter> {
  for await (const line of splitLines(readText(join(folder, 'dead-letters.json'), 'utf-8'), false)) {
    if (line.startsWith('{')) yield JSON.parse(line.replace(/,?\n$/, ''));
  }
}
