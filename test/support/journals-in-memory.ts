import type { Journals } from '../../src/journal/folder.ts';

/** Journals that no folder has; `files` are theirs. */
export function journalsInMemory(files = new Map<string, string>()): Journals {
  return {
    async append(name, text) {
      files.set(name, (files.get(name) ?? '') + text);
    },
    list: async () => [...files].map(([name, text]) => ({ name, bytes: Buffer.byteLength(text) })),
    async *lines(name) {
      yield* (files.get(name) ?? '').split('\n');
    },
  };
}
