import { randomUUID } from 'node:crypto';
import { startLoop } from '../../core/backoff/loop.ts';
import { PoSyncError } from '../../core/errors.ts';
import type { OperatorContext } from '../../operate/operator-context.ts';
import { type PrivateFile, removeLeftUploads } from '../../operate/uploads/private-file.ts';
import type { SendPlan } from '../../operations/run-send.ts';

/** An uploaded file and what sending it would do. `isChanged`: that changed after the person saw it. */
export type Upload = { id: string; file: PrivateFile; plan: SendPlan; isChanged?: true };

/** Files that are kept, and milliseconds that a file is kept. */
export const MOST_KEPT = 20;
const KEPT = 3_600_000;
const LOOK = 60_000;

/** Milliseconds that the preview of a file may take: the next upload waits for it. */
const PREVIEW_TAKES = 60_000;

/** What `act` gives with a context that stops at the limit. PoSyncError `upload-too-slow`. */
export async function withinLimit<Context extends { stopping: AbortSignal }, Result>(
  context: Context,
  act: (context: Context) => Promise<Result>,
  takes = PREVIEW_TAKES,
): Promise<Result> {
  const limit = AbortSignal.timeout(takes);
  try {
    return await act({ ...context, stopping: AbortSignal.any([context.stopping, limit]) });
  } catch (error) {
    if (!limit.aborted) throw error;
    const message = `Reading the file and comparing its orders takes more than ${takes / 1_000} s.`;
    throw new PoSyncError('upload-too-slow', message, {
      remedy: 'Split it, or have it dropped into the folder of its source.',
      cause: error,
    });
  }
}

/** Uploaded files, private to this daemon until they are sent, removed, or forgotten. */
export function createUploads({ config, clock }: Pick<OperatorContext, 'config' | 'clock'>) {
  const kept = new Map<string, Upload & { until: number }>();

  /** PoSyncError `upload-unknown`. */
  function find(id: string): Upload {
    const found = kept.get(id);
    if (found !== undefined) return found;
    throw new PoSyncError('upload-unknown', 'Upload not found.', {
      remedy: `It was sent or removed, is older than an hour, ${MOST_KEPT} others were uploaded since, or the daemon was restarted. Upload the file again.`,
    });
  }

  async function drop(id: string): Promise<Upload> {
    const found = take(id);
    await found.file[Symbol.asyncDispose]();
    return found;
  }

  /** From now on, nobody else finds it. */
  function take(id: string): Upload {
    const found = find(id);
    kept.delete(id);
    return found;
  }

  async function keep(file: PrivateFile, plan: SendPlan): Promise<Upload> {
    const one = { id: randomUUID(), file, plan };
    const [oldest] = kept.keys();
    if (kept.size >= MOST_KEPT && oldest !== undefined) await drop(oldest);
    put(one);
    return one;
  }

  const put = (one: Upload): void =>
    void kept.set(one.id, { ...one, until: clock.monotonic() + KEPT });

  async function expire(): Promise<void> {
    for (const { id, until } of kept.values()) if (until <= clock.monotonic()) await drop(id);
    await removeLeftUploads(config, 2 * KEPT);
  }

  const loop = startLoop(expire, { pause: LOOK, clock, onTrouble: () => undefined });

  return {
    keep,
    find,
    take,
    put,
    drop,
    async [Symbol.asyncDispose](): Promise<void> {
      await loop[Symbol.asyncDispose]();
      for (const id of kept.keys()) await drop(id);
    },
  };
}
