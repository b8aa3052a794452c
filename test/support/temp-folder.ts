import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** An empty folder without symlinks in its path, removed with its content when disposed. */
export async function makeTempFolder(): Promise<AsyncDisposable & { path: string }> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'po-sync-')));
  return {
    path: folder,
    [Symbol.asyncDispose]: () =>
      rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }),
  };
}
