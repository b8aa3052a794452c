import { crc32, inflateRawSync } from 'node:zlib';
import { codeOf, type PoSyncError } from '../../core/errors.ts';
import { unreadable } from '../unreadable.ts';

/** One entry as a zip archive's directory lists it. */
type Entry = { name: string; isEncrypted: boolean; method: number; crc: number; packed: number; at: number };

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
/** The end record, and the longest comment behind it. */
const END_LENGTH = 22;
const LONGEST_COMMENT = 0xffff;
const MOST_ENTRIES = 10_000;

/**
 * The wanted parts of a zip archive, inflated, together at most `limit` bytes, whatever the archive says of its sizes.
 * Only its directory counts. PoSyncError `unreadable-zip` when it is damaged or protected, `unreadable-too-large`.
 */
export function unzipParts(
  archive: Buffer,
  isWanted: (name: string) => boolean,
  limit: number,
): Map<string, Buffer<ArrayBufferLike>> {
  const parts = new Map<string, Buffer>();
  let left = limit;
  for (const entry of entriesOf(archive)) {
    if (!isWanted(entry.name)) continue;
    if (parts.has(entry.name)) throw damaged(`it has two parts ${JSON.stringify(entry.name)}`);
    const part = inflate(archive, entry, left, limit);
    left -= part.length;
    parts.set(entry.name, part);
  }
  return parts;
}

function entriesOf(archive: Buffer): Entry[] {
  const end = archive.lastIndexOf(uint32(END));
  if (end < 0 || end + END_LENGTH > archive.length || end < archive.length - END_LENGTH - LONGEST_COMMENT) {
    throw damaged('it has no end');
  }
  const count = archive.readUInt16LE(end + 10);
  if (count > MOST_ENTRIES) throw damaged(`it has ${count} parts`);
  const entries: Entry[] = [];
  let at = archive.readUInt32LE(end + 16);
  for (let i = 0; i < count; i++) {
    if (at + 46 > archive.length || archive.readUInt32LE(at) !== ENTRY) throw damaged('its directory is broken');
    const name = archive.toString('utf8', at + 46, at + 46 + archive.readUInt16LE(at + 28));
    entries.push({
      name: name.replaceAll('\\', '/'),
      isEncrypted: (archive.readUInt16LE(at + 8) & 1) === 1,
      method: archive.readUInt16LE(at + 10),
      crc: archive.readUInt32LE(at + 16),
      packed: archive.readUInt32LE(at + 20),
      at: archive.readUInt32LE(at + 42),
    });
    at += 46 + archive.readUInt16LE(at + 28) + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return entries;
}

function inflate(archive: Buffer, entry: Entry, left: number, limit: number): Buffer {
  const { at, packed } = entry;
  if (entry.isEncrypted)
    throw unreadable('zip', 'The workbook is protected by a password.', {}, 'Save it without one.');
  if (at + 30 > archive.length || archive.readUInt32LE(at) !== LOCAL) throw damaged('a part is not where it should be');
  const from = at + 30 + archive.readUInt16LE(at + 26) + archive.readUInt16LE(at + 28);
  if (from + packed > archive.length) throw damaged('a part is cut off');
  const part = unpacked(archive.subarray(from, from + packed), entry.method, left, limit);
  if (crc32(part) !== entry.crc) throw damaged(`the checksum of ${JSON.stringify(entry.name)} does not match`);
  return part;
}

function unpacked(packed: Buffer, method: number, left: number, limit: number): Buffer {
  if (method === 0 && packed.length <= left) return packed;
  if (method === 0) throw tooLarge(limit);
  if (method !== 8) throw damaged(`it is packed by method ${method}`);
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, left) });
  } catch (error) {
    throw codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(limit) : damaged('a part cannot be inflated');
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function damaged(how: string): PoSyncError {
  return unreadable('zip', `The workbook is damaged: ${how}.`, {}, 'Save it once more, or as CSV (UTF-8).');
}

function tooLarge(limit: number): PoSyncError {
  const message = `The workbook holds more than ${limit} bytes once inflated.`;
  return unreadable('too-large', message, { limit }, 'Save the sheet as CSV (UTF-8): that may be of any size.');
}
