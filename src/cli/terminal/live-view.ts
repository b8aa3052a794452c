import { join } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import { startLoop } from '../../core/loop.ts';
import type { Daemon } from '../../daemon.ts';
import type { Batch } from '../../ledger/batches.ts';
import type { LogTarget } from '../../log/log-lines.ts';
import { settledIn } from '../../operate/list-batches.ts';
import type { Shell } from '../shell.ts';
import { finalLine, liveLines } from './live-lines.ts';
import { measureLivePace } from './live-pace.ts';
import { createLiveScreen } from './live-screen.ts';
import { createPaint } from './paint.ts';

/** What a person at the terminal sees of a daemon at work. */
export type LiveView = {
  /** Where the log goes: above what is shown. */
  target: LogTarget;
  /** A batch was settled by this daemon. */
  settled: (batch: Batch) => void;
  /** Shows the daemon's work until disposed; the terminal is then as before, with one line more for each batch. */
  follow(daemon: Watched): AsyncDisposable;
};

type Watched = Pick<Daemon, 'underWay' | 'find' | 'pause'>;

/** Milliseconds between two pictures. */
const PAUSE = 250;
/** Batches whose end was told are known so long as no look at Redis can still show them. */
const MOST_TOLD = 1_000;

/** Whether there is somebody to look, and a terminal that can move its cursor. */
export function canShowLive({ isTTY, env }: Shell, { json }: { json: boolean }): boolean {
  return isTTY && !json && env['TERM'] !== 'dumb';
}

/** Opens the view; it shows nothing before it follows a daemon. `reports` is the folder of all reports. */
export function openLiveView({ shell, clock, reports }: { shell: Shell; clock: Clock; reports: string }): LiveView {
  const paint = createPaint(shell);
  const columns = () => (shell.columns > 0 ? shell.columns : 80);
  const screen = createLiveScreen(shell.streams.out, columns);
  const pace = measureLivePace();
  const told = new Set<string>();
  let under: { batch: Batch; pace: number | undefined }[] = [];

  function settled(batch: Batch): void {
    if (told.has(batch.batch)) return;
    told.add(batch.batch);
    for (const oldest of [...told].slice(0, -MOST_TOLD)) told.delete(oldest);
    screen.target.write(finalLine(batch, join(reports, batch.batch, 'report.html'), paint));
  }

  async function look(daemon: Watched): Promise<void> {
    const now = await daemon.underWay();
    const names = new Set(now.map(({ batch }) => batch));
    const gone = under.filter(({ batch }) => !names.has(batch.batch) && !told.has(batch.batch));
    const at = clock.monotonic();
    under = now.map((batch) => ({ batch, pace: pace.see(batch.batch, settledIn(batch), at) }));
    pace.keep(names);
    // Settled by another daemon.
    for (const { batch } of gone) {
      const found = await daemon.find(batch.batch);
      if (found?.state === 'done') settled(found);
    }
  }

  function show(daemon: Watched): void {
    const batches = under.filter(({ batch }) => !told.has(batch.batch));
    screen.show(liveLines({ now: clock.now(), pause: daemon.pause(), batches }, { paint, columns: columns() }));
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
      // Redis may take its time, or be away: the picture does not wait for it.
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
