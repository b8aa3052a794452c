import { watch } from 'chokidar';
import { toError } from '../core/errors.ts';

/**
 * Calls `onChange` when something directly in a folder changes. Only a hint: the system drops notifications silently
 * under load and sends none for network shares.
 */
export function watchFolder(
  folder: string,
  onChange: () => void,
  onFailure: (reason: string) => void,
): AsyncDisposable {
  const watcher = watch(folder, { depth: 0, ignoreInitial: true, ignorePermissionErrors: true });
  watcher.on('all', onChange);
  watcher.on('error', (error) => onFailure(toError(error).message));
  return { [Symbol.asyncDispose]: () => watcher.close() };
}
