import { stripVTControlCharacters } from 'node:util';
import { textWidth } from '../../core/text-width.ts';
import type { LogTarget } from '../../log/log-lines.ts';

/** The last lines of a terminal, painted over and over, while other text goes on above them. */
export type LiveScreen = {
  /** Writes above the lines that are shown. */
  target: LogTarget;
  /** Shows these lines instead of the last ones; none: leaves the terminal as if there had never been any. */
  show(lines: readonly string[]): void;
};

/** A terminal that is so slow gets no new picture, only text. */
const MOST_WAITING = 64 * 1024;

/** Each change is one write, so that no half of it is seen. The cursor is neither hidden nor left anywhere else. */
export function createLiveScreen(stream: LogTarget, columns: () => number): LiveScreen {
  let shown: readonly string[] = [];

  /** Back to where the lines begin, and everything from there on away; they may have wrapped since. */
  function erase(): string {
    const rows = shown.reduce((sum, line) => {
      return sum + Math.max(1, Math.ceil(textWidth(stripVTControlCharacters(line)) / columns()));
    }, 0);
    return rows === 0 ? '' : `\r\u001B[${rows}A\u001B[J`;
  }

  const painted = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

  return {
    target: {
      write: (text) => stream.write(shown.length === 0 ? text : erase() + text + painted(shown)),
      on: (event, listener) => stream.on?.(event, listener),
      get writableLength() {
        return stream.writableLength ?? 0;
      },
    },
    show(lines) {
      const isSame = lines.length === shown.length && lines.every((line, at) => line === shown[at]);
      if (isSame || (lines.length > 0 && (stream.writableLength ?? 0) > MOST_WAITING)) return;
      const picture = erase() + painted(lines);
      shown = lines;
      stream.write(picture);
    },
  };
}
