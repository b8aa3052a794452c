import { copyFile, rename } from 'node:fs/promises';
import path from 'node:path';
import type { OrderFile } from '../order-file.ts';

/** Puts a copy of a file into an inbox by rename; returns the time in milliseconds since 1970. */
export async function dropInto(
  { folder, inbox }: { folder: string; inbox: string },
  { path: file }: OrderFile,
): Promise<number> {
  const aside = path.join(folder, 'dropping');
  await copyFile(file, aside);
  const at = Date.now();
  await rename(aside, path.join(inbox, path.basename(file)));
  return at;
}
