import type { DatabaseSync } from 'node:sqlite';
import { openOrderFile } from '../../src/sandbox/database.ts';
import { makeTempFolder } from './temp-folder.ts';

/** The sandbox's file of orders for `staging` in a separate folder; removed with it when disposed. */
export async function openTestOrderFile(): Promise<
  { file: DatabaseSync; folder: string } & AsyncDisposable
> {
  const folder = await makeTempFolder();
  const file = openOrderFile(folder.path, 'staging');
  return {
    file,
    folder: folder.path,
    async [Symbol.asyncDispose]() {
      file.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}
