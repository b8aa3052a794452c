import { LIMITS } from './limits.ts';
import { tooLarge } from './unreadable.ts';

/** A line of text without its end; `isOpen`: it has none. */
export type Line = { line: number; text: string; isOpen: boolean };

/** The lines of content in UTF-8 whose chunks do not end within a character, as many together as a chunk ends. */
export async function* linesOf(
  content: AsyncIterable<Buffer>,
  newline: string | undefined,
): AsyncGenerator<Line[]> {
  const end = newline === '\r' ? '\r' : '\n';
  const plain = (text: string) => (text.endsWith('\r') ? text.slice(0, -1) : text);
  let line = 0;
  let rest = '';
  for await (const chunk of content) {
    const texts = (rest + chunk.toString()).split(end);
    rest = texts.pop() ?? '';
    if ([...texts, rest].some((text) => text.length > LIMITS.record))
      throw tooLarge(`A line from ${line + 1} on`, LIMITS.record, 'characters', line + 1);
    yield texts.map((text) => ({ line: ++line, text: plain(text), isOpen: false }));
  }
  if (rest !== '') yield [{ line: line + 1, text: rest, isOpen: true }];
}

export type Newline = '\n' | '\r\n' | '\r';

/** The kinds of line ends in a text, each before one that it begins with. */
export function newlinesIn(text: string): Newline[] {
  const counts = countNewlines(text);
  return (['\r\n', '\n', '\r'] as const).filter((one) => counts[one] > 0);
}

/** The most frequent line end in a text. */
export function newlineOf(text: string): Newline | undefined {
  const counts = countNewlines(text);
  return newlinesIn(text).toSorted((a, b) => counts[b] - counts[a])[0];
}

function countNewlines(text: string): Record<Newline, number> {
  const counts = { '\n': 0, '\r\n': 0, '\r': 0 };
  // A CR at the end of what is looked at may be half a CRLF.
  for (const [end] of text.matchAll(/\r\n|\n|\r(?!$)/g))
    if (end === '\n' || end === '\r\n' || end === '\r') counts[end] += 1;
  return counts;
}
