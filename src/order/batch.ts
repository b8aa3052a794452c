import { randomBytes } from 'node:crypto';
import type { FileFormat } from './record.ts';

/**
 * A file that was taken from a source, until its batch is finished. `path` is where its bytes are: in an inbox's
 * `processing/<batch>/`, the copy of an export in the spool, or for `handed-in`, a file that a person submitted for an
 * export, below `data`.
 */
export type ClaimedFile = {
  batch: string;
  source: string;
  kind: 'inbox' | 'export' | 'handed-in';
  /** The file's name as it was dropped. */
  name: string;
  path: string;
  /** Of an export: the file that it is a copy of, if known. */
  origin?: string;
};

/**
 * Builds the name of a batch, such as `20261121T071500Z-inbox-orders-3f2a91c0`: sorts by time and names source and file.
 * It is a safe folder name for every file name.
 */
export function nameBatch(at: Date, source: string, fileName: string): string {
  const time = at
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:]/g, '');
  return `${time}-${plain(source)}-${stemOf(fileName)}-${randomBytes(4).toString('hex')}`;
}

/** Whether a batch can be the one of a file, by its name, which contains only a part of the file's. */
export function canBeOfFile(batch: string, fileName: string): boolean {
  return batch.replace(/-[0-9a-f]{8}$/, '').endsWith(`-${stemOf(fileName)}`);
}

function stemOf(fileName: string): string {
  return (plain(fileName.replace(/(?<=.)\.[^.]*$/, '')) || 'file').slice(0, 60);
}

function plain(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[^A-Za-z0-9._]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
}

/** When a batch was claimed, from its name, in milliseconds since 1970; undefined for other names. */
export function claimTimeOf(batch: string): number | undefined {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-/.exec(batch) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? undefined : at;
}

/** The format of a file in words. */
export function formatText({ type, delimiter, encoding, decimal, gzip }: FileFormat): string {
  return [
    type.toUpperCase(),
    // A comma in a list of facts is hard to see.
    delimiter && `delimiter ${JSON.stringify(delimiter)}`,
    encoding,
    decimal && `decimal ${decimal === ',' ? 'comma' : 'point'}`,
    gzip && 'gzipped',
  ]
    .filter(Boolean)
    .join(', ');
}
