import { readlinkSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Paths that were made durable with fsync since then, in order. */
export type Syncs = AsyncDisposable & { paths: string[] };

/** Watches every `sync` of a file handle in this process; the syncs themselves happen. */
export async function watchSyncs(): Promise<Syncs> {
  const handle = await open('/dev/null');
  const handles = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { sync } = handles;
  const paths: string[] = [];
  handles.sync = async function syncAndNote(this: FileHandle) {
    paths.push(readlinkSync(`/proc/self/fd/${this.fd}`));
    return sync.call(this);
  };
  return {
    paths,
    async [Symbol.asyncDispose]() {
      handles.sync = sync;
    },
  };
}
