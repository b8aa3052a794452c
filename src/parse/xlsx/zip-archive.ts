import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { type Entry, fromFdPromise, type ZipFile } from 'yauzl';
import { PoSyncError, toError } from '../../core/errors.ts';
import { LIMITS } from '../limits.ts';
import { cut, tooLarge, unreadable } from '../unreadable.ts';

/** The parts of a zip archive. Their names are compared without case; a `\` in one is a `/`. */
export type ZipArchive = {
  has(name: string): boolean;
  /** The text of a part, piece by piece. */
  textOf(name: string): AsyncGenerator<string>;
};

const MOST_ENTRIES = 10_000;

/**
 * Opens the archive in an open file. PoSyncError `unreadable-incomplete` when it has no end, `unreadable-damaged` when it
 * is damaged or protected; `unreadable-too-large` when the parts that are read exceed the limit, whatever it claims.
 */
export async function openZipArchive(fd: number): Promise<ZipArchive> {
  const options = { lazyEntries: true, autoClose: false, strictFileNames: false };
  const zip = await fromFdPromise(fd, options).catch(refuse);
  const entries = await entriesOf(zip).catch(refuse);
  let left: number = LIMITS.workbookInflated;

  async function* bytesOf(name: string): AsyncGenerator<Buffer> {
    const entry = entries.get(plain(name));
    if (entry === undefined) throw damaged(`it has no part ${cut(name)}`);
    if (entry.isEncrypted()) throw damaged('it is protected by a password');
    const stream: Readable = await zip.openReadStreamPromise(entry).catch(refuse);
    let sum = 0;
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        sum = crc32(chunk, sum);
        left -= chunk.length;
        if (left < 0)
          throw tooLarge('The content of the workbook', LIMITS.workbookInflated, 'bytes');
        yield chunk;
      }
    } catch (error) {
      refuse(error);
    } finally {
      stream.destroy();
    }
    if (sum !== entry.crc32) throw damaged(`the checksum of ${cut(name)} is wrong`);
  }

  async function* textOf(name: string): AsyncGenerator<string> {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    for await (const chunk of bytesOf(name)) yield decode(decoder, chunk);
    yield decode(decoder);
  }

  return {
    has: (name) => entries.has(plain(name)),
    textOf,
  };
}

async function entriesOf(zip: ZipFile): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  if (zip.entryCount > MOST_ENTRIES) throw damaged(`it has ${zip.entryCount} parts`);
  for await (const entry of zip.eachEntry()) {
    const name = plain(entry.fileName);
    if (entries.has(name)) throw damaged(`it has two parts ${cut(entry.fileName)}`);
    entries.set(name, entry);
  }
  return entries;
}

function plain(name: string): string {
  return name.replaceAll('\\', '/').toLowerCase();
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk?: Buffer): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    throw damaged('it has text that is not UTF-8');
  }
}

/** Whatever else goes wrong in a hostile archive is the archive's fault too. */
function refuse(error: unknown): never {
  if (error instanceof PoSyncError) throw error;
  const { message } = toError(error);
  // The list of the parts is what a zip archive ends with.
  if (message.startsWith('End of central directory'))
    throw unreadable({ code: 'incomplete', of: 'zip', lacks: 'the end of the zip archive' });
  throw damaged(message);
}

function damaged(reason: string): PoSyncError {
  return unreadable({ code: 'damaged', what: 'zip', reason: cut(reason, 120) });
}
