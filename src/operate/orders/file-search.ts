import type { Clock } from '../../core/clock.ts';
import { createSemaphore } from '../../core/semaphore.ts';
import { type FoundInFile, SEARCH_TAKES, type WantedOrder } from './find-in-file.ts';
import type { ItemReading, WantedItems } from './items-in-file.ts';

export type SearchFile = (wanted: WantedOrder) => Promise<FoundInFile>;

/**
 * Builds the search that answers in time: one file at a time, each for at most `takes` milliseconds, after waiting for
 * at most as long. A file on a share that does not answer keeps its turn, so that only one read waits for it.
 */
export function createFileSearch(
  read: (wanted: WantedOrder, signal: AbortSignal) => Promise<FoundInFile>,
  takes = SEARCH_TAKES,
): SearchFile {
  const turns = createSemaphore(1);
  return (wanted) => {
    const { promise, resolve } = Promise.withResolvers<FoundInFile>();
    const waited = AbortSignal.timeout(takes);
    const giveUp = () => resolve({ found: 'busy' });
    waited.addEventListener('abort', giveUp);
    void turns.hold(async () => {
      waited.removeEventListener('abort', giveUp);
      if (waited.aborted) return;
      const signal = AbortSignal.timeout(takes);
      signal.addEventListener('abort', () => resolve({ found: 'late' }));
      await read(wanted, signal).then(resolve, giveUp);
    });
    return promise;
  };
}

/** Reads a file within so many milliseconds. Only one at a time. */
export type ReadItems = (wanted: WantedItems, takes: number) => ItemReading;

/** The right of one list to read files for some time. */
type Turn = AsyncDisposable & { read(wanted: WantedItems, read: ReadItems): ItemReading };

/** Gives one list at a time its turn. A list that waited too long gets one in which everything is late. */
export function createTurns(clock: Clock, takes: number): () => Promise<Turn> {
  const turns = createSemaphore(1);
  return () => {
    const given = Promise.withResolvers<Turn>();
    const waited = AbortSignal.timeout(takes);
    const giveUp = () => given.resolve(createTurn(waited, () => 0).turn);
    waited.addEventListener('abort', giveUp);
    void turns.hold(async () => {
      waited.removeEventListener('abort', giveUp);
      if (waited.aborted) return;
      const until = clock.monotonic() + takes;
      const { turn, ended } = createTurn(
        AbortSignal.timeout(takes),
        () => until - clock.monotonic(),
      );
      given.resolve(turn);
      await ended;
    });
    return given.promise;
  };
}

/**
 * `left`: milliseconds. `ended`: when the turn was disposed of or its time is over, and its file is closed, also where
 * nobody takes the rest of the list.
 */
function createTurn(signal: AbortSignal, left: () => number): { turn: Turn; ended: Promise<void> } {
  const over = Promise.withResolvers<'late'>();
  let reading: ItemReading | undefined;
  signal.addEventListener('abort', () => over.resolve('late'));

  async function* readInTurn(wanted: WantedItems, read: ReadItems): ItemReading {
    if (signal.aborted) return 'late';
    reading = read(wanted, Math.max(1, Math.ceil(left())));
    try {
      while (!signal.aborted) {
        const next = await Promise.race([reading.next(), over.promise]);
        if (next === 'late') return next;
        if (next.done) return next.value;
        yield next.value;
      }
      return 'late';
    } catch {
      return 'unreadable';
    } finally {
      if (!signal.aborted) await close();
    }
  }

  const close = async () => void (await reading?.return('late').catch(() => undefined));
  const turn = { read: readInTurn, [Symbol.asyncDispose]: async () => over.resolve('late') };
  return { turn, ended: over.promise.then(close) };
}
