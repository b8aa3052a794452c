import { createHash } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { PoSyncError } from '../core/errors.ts';
import { openRegularFile, sameStamp, stampOf } from '../core/regular-file.ts';
import { type ClaimedFile, nameBatch } from '../order/batch.ts';

const CHUNK = 1024 * 1024;

export type CopiedFile = ClaimedFile & { sha256: string; bytes: number };

/**
 * Copies one version of an export into `spool/<batch>/`, where it appears whole or not at all. PoSyncError
 * `file-changed` when the export was written to meanwhile; nothing is left behind then.
 */
export async function copyExport(file: string, source: string, spool: string, at: Date): Promise<CopiedFile> {
  const name = path.basename(file);
  const batch = nameBatch(at, source, name);
  const folder = path.join(spool, batch);
  await mkdir(folder, { recursive: true });
  try {
    const draft = path.join(folder, '.part');
    const { sha256, bytes } = await copyUnchanged(file, draft);
    const copy = path.join(folder, name);
    await rename(draft, copy);
    return { batch, source, kind: 'export', name, path: copy, sha256, bytes };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function copyUnchanged(from: string, to: string): Promise<{ sha256: string; bytes: number }> {
  await using input = await openRegularFile(from);
  await using output = await open(to, 'wx');
  const stamp = await stampOf(input);
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafeSlow(CHUNK);
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await input.read(buffer, 0, CHUNK, bytes);
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    await output.writeFile(chunk);
    bytes += bytesRead;
  }
  await output.sync();
  if (!sameStamp(await stampOf(input), stamp)) throw changed(from);
  return { sha256: hash.digest('hex'), bytes };
}

function changed(file: string): PoSyncError {
  return new PoSyncError('file-changed', `${file} was written to while it was copied.`, { facts: { file } });
}
