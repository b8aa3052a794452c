import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Secret } from '../config/secret.ts';
import { codeOf, PoSyncError } from '../core/errors.ts';
import type { Http, HttpAnswer } from '../core/http.ts';
import { nameBatch } from '../order/batch.ts';
import type { CopiedFile } from './export.ts';

/** What a server said of the version it sent, to ask for a newer one only (RFC 9110, 8.8 and 13.1). */
export type Validators = { etag?: string; lastModified?: string };

export type DownloadOrder = {
  url: URL;
  source: string;
  /** Folder for the copies of this source alone. */
  spool: string;
  authorization: Secret | undefined;
  /** Of the version that was taken last. */
  validators: Validators | undefined;
  at: Date;
  /** Milliseconds for all of it. */
  timeout: number;
  /** Milliseconds without a byte of it. */
  idle: number;
  /** Most bytes. */
  most: number;
};

/** `absent`: the server has no such file (yet). */
export type Downloaded =
  | { kind: 'copy'; copy: CopiedFile; validators: Validators }
  | { kind: 'unchanged' }
  | { kind: 'absent' };

/**
 * Fetches a version newer than the last into `spool/<batch>/`, where it appears whole or not at all. PoSyncError
 * `export-unreachable`, `export-refused` for any other answer (no redirect is followed), `export-cut-off` when it is
 * not certain to be whole, `export-too-large`.
 */
export async function download(order: DownloadOrder, http: Http): Promise<Downloaded> {
  const { url, source, spool, at } = order;
  const name = fileNameOf(url);
  const batch = nameBatch(at, source, name);
  const folder = path.join(spool, batch);
  await mkdir(folder, { recursive: true });
  try {
    const draft = path.join(folder, '.part');
    const { answer, sha256, bytes } = await fetchInto(draft, order, http);
    const verdict = verdictOn(answer, url, bytes);
    if (verdict !== 'whole') {
      await rm(folder, { recursive: true, force: true });
      return { kind: verdict };
    }
    const file = path.join(folder, name);
    await rename(draft, file);
    const copy: CopiedFile = { batch, source, kind: 'export', name, path: file, sha256, bytes };
    return { kind: 'copy', copy, validators: validatorsOf(answer) };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function fetchInto(draft: string, order: DownloadOrder, http: Http) {
  await using output = await open(draft, 'wx');
  const hash = createHash('sha256');
  let bytes = 0;
  const end = await http.call({
    method: 'GET',
    url: order.url,
    headers: headersOf(order),
    timeout: order.timeout,
    idleTimeout: order.idle,
    onData: (chunk) => {
      bytes += chunk.length;
      if (bytes > order.most) throw tooLarge(order);
      hash.update(chunk);
      // Waited for, so that no more is in memory than one piece, however slow the disk.
      for (let at = 0; at < chunk.length; ) at += writeSync(output.fd, chunk, at);
    },
  });
  if (end.kind !== 'answered')
    throw codeOf(end.error)?.startsWith('export-') ? end.error : unreachable(order.url, end.error);
  await output.sync();
  return { answer: end.answer, sha256: hash.digest('hex'), bytes };
}

function headersOf({ authorization, validators = {} }: DownloadOrder): Record<string, string> {
  const { etag, lastModified } = validators;
  return {
    accept: '*/*',
    'accept-encoding': 'identity',
    ...(authorization && { authorization: authorization.reveal() }),
    ...(etag !== undefined && { 'if-none-match': etag }),
    ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
  };
}

function verdictOn({ status, headers }: HttpAnswer, url: URL, bytes: number): 'whole' | 'unchanged' | 'absent' {
  if (status === 304) return 'unchanged';
  if (status === 404 || status === 410) return 'absent';
  if (status !== 200) throw refused(url, status);
  const length = headers['content-length'];
  const isCertain = length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) === bytes;
  if (!isCertain) throw cutOff(url, bytes);
  return 'whole';
}

function validatorsOf({ headers }: HttpAnswer): Validators {
  const { etag, 'last-modified': lastModified } = headers;
  return { ...(etag !== undefined && { etag }), ...(lastModified !== undefined && { lastModified }) };
}

const LONGEST = 120;

/** The last step of the address as a file's name that is safe in a folder. */
function fileNameOf({ pathname }: URL): string {
  const step = path.posix.basename(pathname);
  const name = step
    .replace(/%20/g, ' ')
    .replace(/[^A-Za-z0-9._ -]/g, '_')
    .replace(/^[.\s]+/, '');
  return name.slice(-LONGEST) || 'export';
}

/** The address without its query, which may hold a secret. */
export function shownAddress({ origin, pathname }: URL): string {
  return origin + pathname;
}

function unreachable(url: URL, cause: Error): PoSyncError {
  return new PoSyncError('export-unreachable', `${shownAddress(url)} gave no whole answer: ${cause.message}.`, {
    cause,
  });
}

function refused(url: URL, status: number): PoSyncError {
  const facts = { status };
  if (status >= 300 && status < 400) {
    const remedy = 'No redirect is followed: name the address itself as path of the source.';
    return new PoSyncError('export-refused', `${shownAddress(url)} sends elsewhere (${status}).`, { remedy, facts });
  }
  const isDenied = status === 401 || status === 403;
  return new PoSyncError('export-refused', `${shownAddress(url)} answered ${status}.`, {
    facts,
    ...(isDenied && { remedy: 'Check PO_SYNC_SOURCE_<NAME>_AUTHORIZATION, or _USER and _PASSWORD.' }),
  });
}

function cutOff(url: URL, bytes: number): PoSyncError {
  const message = `${shownAddress(url)} did not say how long the export is, or it ended early (after ${bytes} bytes).`;
  return new PoSyncError('export-cut-off', message, { facts: { bytes } });
}

function tooLarge({ url, most: limit }: DownloadOrder): PoSyncError {
  return new PoSyncError('export-too-large', `${shownAddress(url)} has more than ${limit} bytes.`, {
    facts: { limit },
  });
}
