/** How Linux names a folder that this process has open. */
const HANDLE = /\/proc\/self\/fd\/\d+\/?/g;

/** A path, or a text with paths, without the handles that stand for folders. */
export function shownPath(text: string): string {
  return text.replace(HANDLE, '');
}

/** Rewrites the paths of a system error, in its message too; without `show`, their handles are left out. */
export function showPaths<T>(thrown: T, show: (text: string) => string = shownPath): T {
  if (!(thrown instanceof Error) || thrown.message.search(HANDLE) === -1) return thrown;
  thrown.message = show(thrown.message);
  const paths: Error & { path?: unknown; dest?: unknown } = thrown;
  if (typeof paths.path === 'string') paths.path = show(paths.path);
  if (typeof paths.dest === 'string') paths.dest = show(paths.dest);
  return thrown;
}
