import { stripVTControlCharacters } from 'node:util';
import { textWidth } from '../../core/format.ts';
import type { LogTarget } from '../../log/log-lines.ts';

/** The last lines of a terminal, repainted in place, with other text above them. */
export type LiveScreen = {
  /** Writes above the lines that are shown. */
  target: LogTarget;
  /** Replaces the lines that are shown. No lines: removes them without a trace. */
  show(lines: readonly string[]): void;
};

/** A terminal with more unread bytes than this gets only text, no new lines to repaint. */
const MOST_WAITING = 64 * 1024;

/** Each change is one write, so that it appears at once. The cursor stays visible, below the lines. */
export function createLiveScreen(stream: LogTarget, columns: () => number): LiveScreen {
  let shown: readonly string[] = [];

  /** Moves to the start of the lines and clears from there; the lines may have wrapped since they were written. */
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
