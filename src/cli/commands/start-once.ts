import type { DaemonInput } from '../../daemon.ts';
import { type Daemon, openDaemon } from '../../daemon.ts';
import type { Batch } from '../../ledger/batches.ts';
import type { OutcomeCounts } from '../../order/outcome.ts';
import type { Shell } from '../shell.ts';
import type { LiveView } from '../terminal/live-view.ts';

/** A batch in the output of `start --once --json`. */
type SettledBatch = {
  batch: string;
  source: string;
  file: string;
  orders: number;
  counts: OutcomeCounts;
  needPerson: number;
};

/** Why the run ended: nothing is left, a person must decide, the longest wait is over, or a signal. */
type End = 'done' | 'held' | 'waited' | 'interrupted';

/** Milliseconds between two checks whether the run is done. */
const LOOK_AGAIN = 100;

/**
 * Takes the files that are present now, claims of dead daemons and orders that are already queued; ends when none is
 * left. 0: all is well; 2: something needs a person or is left; 130/143: interrupted.
 */
export async function startOnce(
  input: Omit<DaemonInput, 'admin' | 'onSettled'>,
  { json, maxWait }: { json: boolean; maxWait: number },
  shell: Shell,
  live?: LiveView,
): Promise<number> {
  const batches: SettledBatch[] = [];
  let end: End;
  {
    const onSettled = (batch: Batch, needPerson: number) => {
      batches.push(summaryOf(batch, needPerson));
      live?.settled(batch);
    };
    await using daemon = await openDaemon({ ...input, admin: false, onSettled });
    await using _ = live?.follow(daemon);
    end = await runUntilDone(daemon, maxWait, input.clock, shell.signal);
  }
  const exitCode = exitCodeOf(end, batches, shell.signal);
  const { environment } = input.config;
  if (json) shell.out(`${JSON.stringify({ environment, end, exitCode, batches }, null, 2)}\n`);
  return exitCode;
}

async function runUntilDone(
  daemon: Daemon,
  maxWait: number,
  clock: DaemonInput['clock'],
  signal: AbortSignal,
): Promise<End> {
  const until = clock.monotonic() + maxWait;
  let isTaking = true;
  daemon.takePresent().then(
    () => {
      isTaking = false;
    },
    () => undefined,
  );
  while (!signal.aborted) {
    if (!isTaking && (await daemon.unfinished()) === 0) return 'done';
    if (!isTaking && (await daemon.waitsForPerson()) !== undefined) return 'held';
    if (clock.monotonic() >= until) return 'waited';
    await clock.sleep(LOOK_AGAIN, signal);
  }
  return 'interrupted';
}

function exitCodeOf(end: End, batches: readonly SettledBatch[], signal: AbortSignal): number {
  switch (end) {
    case 'interrupted':
      return signal.reason === 'SIGINT' ? 130 : 143;
    case 'held':
    case 'waited':
      return 2;
    case 'done':
      return batches.some(({ needPerson }) => needPerson > 0) ? 2 : 0;
  }
}

function summaryOf(batch: Batch, needPerson: number): SettledBatch {
  const { batch: name, source, name: file, total: orders = 0, counts } = batch;
  return { batch: name, source, file, orders, counts, needPerson };
}
