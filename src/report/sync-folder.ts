import { open } from 'node:fs/promises';
import { codeOf } from '../core/errors.ts';

/** Makes a folder's names durable. Where folders cannot be synced (some network shares), the rename alone must do. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } catch (thrown) {
    if (!['EINVAL', 'ENOTSUP', 'EPERM', 'EISDIR'].includes(codeOf(thrown) ?? '')) throw thrown;
  } finally {
    await handle.close();
  }
}
