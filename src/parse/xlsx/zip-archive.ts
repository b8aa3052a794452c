import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { type Entry, fromFdPromise, type ZipFile } from 'yauzl';
import { PoSyncError, toError } from '../../core/errors.ts';
import { withoutStop } from '../../core/format.ts';
import { LIMITS } from '../../order/limits.ts';
import { shorten } from '../../order/text.ts';
import { unreadable } from '../unreadable.ts';

/** The parts of a zip archive. Their names are compared without case. */
export type ZipArchive = {
  has(name: string): boolean;
  /** In lower case. */
  names(): readonly string[];
  /** The text of a part, piece by piece. */
  textOf(name: string): AsyncGenerator<string>;
};

const MOST_ENTRIES = 10_000;

/**
 * Opens the archive in an open file. PoSyncError `unreadable-zip` when it is damaged, cut off or protected;
 * `unreadable-too-large` when the parts that are read exceed the limit, whatever the archive claims.
 */
export async function openZipArchive(fd: number): Promise<ZipArchive> {
  const zip = await fromFdPromise(fd, { lazyEntries: true, autoClose: false }).catch(refuse);
  const entries = await entriesOf(zip).catch(refuse);
  let left: number = LIMITS.workbookInflatedBytes;

  async function* bytesOf(name: string): AsyncGenerator<Buffer> {
    const entry = entries.get(name.toLowerCase());
    if (entry === undefined) throw damaged(`it has no part ${shorten(name, 60)}`);
    if (entry.isEncrypted())
      throw unreadable('zip', 'The workbook is protected by a password.', {}, REMEDY);
    const stream: Readable = await zip.openReadStreamPromise(entry).catch(refuse);
    let sum = 0;
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        sum = crc32(chunk, sum);
        left -= chunk.length;
        if (left < 0) throw tooLarge();
        yield chunk;
      }
    } catch (error) {
      refuse(error);
    } finally {
      stream.destroy();
    }
    if (sum !== entry.crc32) throw damaged(`the checksum of ${shorten(name, 60)} is wrong`);
  }

  async function* textOf(name: string): AsyncGenerator<string> {
    let decoder: InstanceType<typeof TextDecoder> | undefined;
    for await (const chunk of bytesOf(name)) {
      decoder ??= new TextDecoder(isUtf16(chunk) ? 'utf-16le' : 'utf-8', { fatal: true });
      yield decode(decoder, chunk);
    }
    if (decoder) yield decode(decoder);
  }

  return {
    has: (name) => entries.has(name.toLowerCase()),
    names: () => [...entries.keys()],
    textOf,
  };
}

async function entriesOf(zip: ZipFile): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  if (zip.entryCount > MOST_ENTRIES) throw damaged(`it has ${zip.entryCount} parts`);
  for await (const entry of zip.eachEntry()) {
    const name = entry.fileName.toLowerCase();
    if (entries.has(name)) throw damaged(`it has two parts ${shorten(entry.fileName, 60)}`);
    entries.set(name, entry);
  }
  return entries;
}

function isUtf16(start: Buffer): boolean {
  return start[0] === 0xff && start[1] === 0xfe;
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
  throw damaged(
    message.startsWith('End of central directory') ? 'the list of its parts is missing' : message,
  );
}

const REMEDY = 'Save it again without a password, or as CSV (UTF-8).';

function damaged(reason: string): PoSyncError {
  const message = `The zip archive is damaged or cut off: ${withoutStop(shorten(reason, 120))}.`;
  return unreadable('zip', message, {}, 'Drop the complete file again.');
}

function tooLarge(): PoSyncError {
  const limit = LIMITS.workbookInflatedBytes;
  const message = `The workbook contains more than ${limit} bytes.`;
  return unreadable(
    'too-large',
    message,
    { limit },
    'Save the sheet as CSV (UTF-8), which may have any size.',
  );
}
