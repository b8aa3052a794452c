import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip, type Gunzip } from 'node:zlib';
import { codeOf, PoSyncError } from '../core/errors.ts';
import { type Stamp, sameStamp, stampOf } from '../core/regular-file.ts';
import { LIMITS } from './limits.ts';
import { tooLarge, unreadable } from './unreadable.ts';

/** Bytes read at once. */
const READ = 256 * 1024;
/** Small, so that the rows of one are done with before the garbage collector looks: faster, and less memory. */
const CHUNK = 8 * 1024;

export type ReadOptions = {
  gzip: boolean;
  /** Fed with the file's own bytes, before they are inflated. */
  hash?: Hash;
  signal?: AbortSignal | undefined;
};

/**
 * The content of an open file from its first byte, inflated when it is gzip. A chunk stays valid until the second chunk
 * after it. PoSyncError `file-changed` as soon as the file is not what it was at `stamp`: checked after every read,
 * before anything of it is passed on, and at the end.
 */
export async function* readBytes(
  handle: FileHandle,
  stamp: Stamp,
  options: ReadOptions,
): AsyncGenerator<Buffer> {
  const raw = readRaw(handle, stamp, options);
  yield* options.gzip ? inflate(raw, Number(stamp.size)) : raw;
}

/** The first bytes of the content, at most `length`; less if it is cut or damaged behind them, which a pass will say. */
export async function readStart(
  handle: FileHandle,
  stamp: Stamp,
  gzip: boolean,
  length: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of readBytes(handle, stamp, { gzip })) {
      chunks.push(Buffer.from(chunk));
      bytes += chunk.length;
      if (bytes >= length) break;
    }
  } catch (error) {
    if (bytes === 0) throw error;
  }
  return Buffer.concat(chunks).subarray(0, length);
}

/** Whether the file begins as gzip does (RFC 1952). */
export async function isGzip(handle: FileHandle): Promise<boolean> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
  return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
}

async function* readRaw(
  handle: FileHandle,
  stamp: Stamp,
  { hash, signal }: ReadOptions,
): AsyncGenerator<Buffer> {
  const buffers = [Buffer.allocUnsafeSlow(READ), Buffer.allocUnsafeSlow(READ)];
  let position = 0;
  for (let turn = 0; ; turn ^= 1) {
    signal?.throwIfAborted();
    const { bytesRead, buffer } = await handle.read(
      buffers[turn] ?? Buffer.alloc(READ),
      0,
      READ,
      position,
    );
    await requireUnchanged(handle, stamp);
    if (bytesRead === 0) return;
    position += bytesRead;
    hash?.update(buffer.subarray(0, bytesRead));
    for (let at = 0; at < bytesRead; at += CHUNK)
      yield buffer.subarray(at, Math.min(at + CHUNK, bytesRead));
  }
}

/** PoSyncError `file-changed` when the file is not what it was at `stamp`. */
async function requireUnchanged(handle: FileHandle, stamp: Stamp): Promise<void> {
  if (sameStamp(await stampOf(handle), stamp)) return;
  const remedy = 'No action needed: it is read again from its beginning.';
  throw new PoSyncError('file-changed', 'The file was changed while it was read.', { remedy });
}

/** Inflates; gunzip itself would skip what follows the last gzip member. */
async function* inflate(raw: AsyncGenerator<Buffer>, size: number): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK });
  const source = Readable.from(copies(raw), { objectMode: false });
  source.on('error', (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  let bytes = 0;
  try {
    for await (const chunk of gunzip) {
      bytes += chunk.length;
      if (bytes > LIMITS.inflated)
        throw tooLarge('What the gzip file contains', LIMITS.inflated, 'bytes');
      yield chunk;
    }
  } catch (error) {
    throw asGzipError(error);
  } finally {
    source.destroy();
    gunzip.destroy();
  }
  requireWhole(gunzip, size);
}

/** gunzip keeps chunks longer than their buffers are valid. */
async function* copies(raw: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of raw) yield Buffer.from(chunk);
}

function requireWhole(gunzip: Gunzip, size: number): void {
  if (gunzip.bytesWritten >= size) return;
  const reason = `it has more data after its end at byte ${gunzip.bytesWritten}`;
  throw unreadable({ code: 'damaged', what: 'gzip', reason });
}

function asGzipError(error: unknown): unknown {
  const code = codeOf(error);
  if (code === 'Z_BUF_ERROR')
    return unreadable({ code: 'incomplete', of: 'gzip', lacks: 'the end of the gzip data' });
  if (code?.startsWith('Z_')) return unreadable({ code: 'damaged', what: 'gzip', reason: code });
  return error;
}
