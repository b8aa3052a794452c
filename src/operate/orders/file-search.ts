import { createSemaphore } from '../../core/semaphore.ts';
import { type FoundInFile, SEARCH_TAKES, type WantedOrder } from './find-in-file.ts';

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
