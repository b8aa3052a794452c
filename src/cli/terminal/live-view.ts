import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { startLoop } from '../../core/backoff/loop.ts';
import type { Clock } from '../../core/clock.ts';
import { counted, textWidth } from '../../core/format.ts';
import type { Batch } from '../../ledger/batches/batches.ts';
import type { LogTarget } from '../../log/log.ts';
import type { Daemon } from '../../operate/daemon.ts';
import type { Shell } from '../shell.ts';
import { finalLine, liveLines } from './live-lines.ts';
import { createPaint } from './print.ts';

/** The view of a running daemon on a terminal. */
export type LiveView = {
  /** The log's target; its lines appear above the view. */
  target: LogTarget;
  /** This daemon settled a batch. */
  settled: (batch: Batch) => void;
  /** Shows the daemon's work until disposed; then only one line for each finished batch is left. */
  follow(daemon: Watched): AsyncDisposable;
};

type Watched = Pick<Daemon, 'underWay' | 'find' | 'pause'>;

/** Milliseconds between two repaints. */
const PAUSE = 250;
/** Finished batches that are remembered, so that a slow answer of Redis does not show them again. */
const MOST_FINISHED = 1_000;

/** Whether somebody watches on a terminal that can move its cursor. */
export function canShowLive({ isTTY, env }: Shell, { json }: { json: boolean }): boolean {
  return isTTY && !json && env['TERM'] !== 'dumb';
}

/** Creates the view; it shows nothing before `follow`. `reports` is the folder of all reports. */
export function createLiveView({
  shell,
  clock,
  reports,
}: {
  shell: Shell;
  clock: Clock;
  reports: string;
}): LiveView {
  const paint = createPaint(shell);
  const columns = () => (shell.columns > 0 ? shell.columns : 80);
  const screen = createLiveScreen(shell.streams.out, columns);
  const finished = new Set<string>();
  let under: Batch[] = [];

  function settled(batch: Batch): void {
    if (finished.has(batch.batch)) return;
    finished.add(batch.batch);
    for (const oldest of [...finished].slice(0, -MOST_FINISHED)) finished.delete(oldest);
    const page = join(reports, batch.batch, 'report.html');
    screen.target.write(finalLine(batch, page, paint));
  }

  async function look(daemon: Watched): Promise<void> {
    const now = await daemon.underWay();
    const names = new Set(now.map(({ batch }) => batch));
    const gone = under.filter(({ batch }) => !names.has(batch) && !finished.has(batch));
    under = now;
    // Settled by another daemon.
    for (const { batch } of gone) {
      const found = await daemon.find(batch);
      if (found?.state === 'done') settled(found);
    }
  }

  function show(daemon: Watched): void {
    const batches = under.filter(({ batch }) => !finished.has(batch));
    screen.show(
      liveLines(
        { now: clock.now(), pause: daemon.pause(), batches },
        { paint, columns: columns() },
      ),
    );
  }

  function follow(daemon: Watched): AsyncDisposable {
    let isLooking = false;
    const lookOnce = async () => {
      if (isLooking) return;
      isLooking = true;
      await look(daemon).catch(() => undefined);
      isLooking = false;
    };
    const tick = async () => {
      // Redis may be slow or unreachable; repainting does not wait for it.
      void lookOnce();
      show(daemon);
    };
    const loop = startLoop(tick, { pause: PAUSE, clock, onTrouble: () => undefined });
    return {
      async [Symbol.asyncDispose]() {
        await loop[Symbol.asyncDispose]();
        screen.show([]);
      },
    };
  }

  return { target: screen.target, settled, follow };
}

/** The last lines of a terminal, repainted in place, with other text above them. */
export type LiveScreen = {
  /** Writes above the lines that are shown. */
  target: LogTarget;
  /** Replaces the lines that are shown. No lines: removes them. */
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

/** The first lines of a text, and as the last one how many are left out. */
export function linesThatFit(text: string, rows: number): string[] {
  const lines = text.trimEnd().split('\n');
  if (lines.length <= rows) return lines;
  const shown = lines.slice(0, Math.max(0, rows - 1));
  return [
    ...shown,
    `… ${counted(lines.length - shown.length, 'more line')}: enlarge the window, or run po-sync status`,
  ];
}
