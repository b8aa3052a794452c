import { randomBytes } from 'node:crypto';

/**
 * A file that was taken from a source and is ours until its batch is finished.
 * `path` is where the claimed bytes lie: in an inbox's `processing/<batch>/`, or a copy of an export in the spool.
 */
export type ClaimedFile = {
  batch: string;
  source: string;
  kind: 'inbox' | 'export';
  /** The file's name as it was dropped. */
  name: string;
  path: string;
  /** Of an export: which of the source's files it is a copy of, where known. */
  origin?: string;
};

/**
 * Names a batch: sorts by time, names source and file, e.g. `20261121T071500Z-inbox-orders-3f2a91c0`.
 * The text is safe as a folder name whatever the file was called.
 */
export function nameBatch(at: Date, source: string, fileName: string): string {
  const time = at
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:]/g, '');
  const stem = plain(fileName.replace(/(?<=.)\.[^.]*$/, '')) || 'file';
  return `${time}-${plain(source)}-${stem.slice(0, 60)}-${randomBytes(4).toString('hex')}`;
}

function plain(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[^A-Za-z0-9._]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
}

/** When a batch was claimed, read back from its name; undefined when it is no name of ours. Milliseconds since 1970. */
export function claimTimeOf(batch: string): number | undefined {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-/.exec(batch) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? undefined : at;
}
