import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { fromBufferPromise } from 'yauzl';

/** The parts of a zip archive. */
export async function unzip(archive: Buffer): Promise<Map<string, Buffer>> {
  const zip = await fromBufferPromise(archive, { lazyEntries: true });
  const parts = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry()) {
    parts.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)));
  }
  return parts;
}

/** A zip archive of these parts, not packed. */
export function storeZip(parts: ReadonlyMap<string, Buffer>): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, content] of parts) {
    const path = Buffer.from(name);
    const common = commonFields(path, content);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, path, content]);
    directory.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, directoryFields(at), path);
    files.push(local);
    at += local.length;
  }
  const listed = Buffer.concat(directory);
  return Buffer.concat([...files, listed, endRecord(parts.size, listed.length, at)]);
}

/** Version, flags (names are UTF-8), method, time, checksum, both sizes, length of the name, no more. */
function commonFields(path: Buffer, content: Buffer): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(0x800, 2);
  fields.writeUInt32LE(crc32(content), 10);
  fields.writeUInt32LE(content.length, 14);
  fields.writeUInt32LE(content.length, 18);
  fields.writeUInt16LE(path.length, 22);
  return fields;
}

/** Comment, disk, attributes; where the part begins. */
function directoryFields(at: number): Buffer {
  const fields = Buffer.alloc(14);
  fields.writeUInt32LE(at, 10);
  return fields;
}

function endRecord(count: number, length: number, at: number): Buffer {
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(length, 12);
  end.writeUInt32LE(at, 16);
  return end;
}
