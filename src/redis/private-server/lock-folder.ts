import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../core/clock.ts';
import { PoSyncError } from '../../core/errors.ts';

/** SQLite's answer while another connection holds the lock. */
const SQLITE_BUSY = 5;

/**
 * Waits until this process alone may start or stop the server of `folder`, for as long as that takes or until
 * `signal` aborts (PoSyncError `interrupted`). Dispose to let go.
 * The lock is SQLite's: the kernel takes it back when its holder dies, however it dies, so none is ever stale.
 */
export async function lockFolder(folder: string, clock: Clock, signal?: AbortSignal): Promise<Disposable> {
  const database = new DatabaseSync(path.join(folder, 'lock'));
  try {
    while (!isTaken(database)) {
      await clock.sleep(20, signal);
      if (signal?.aborted) throw new PoSyncError('interrupted', `interrupted while waiting for the lock of ${folder}.`);
    }
  } catch (error) {
    database.close();
    throw error;
  }
  return { [Symbol.dispose]: () => database.close() };
}

function isTaken(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return false;
    throw error;
  }
}
