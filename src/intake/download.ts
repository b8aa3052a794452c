import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { Secret } from '../config/secret.ts';
import { codeOf, PoSyncError } from '../core/errors.ts';
import { withoutStop } from '../core/format.ts';
import type { Http, HttpAnswer } from '../core/http.ts';
import { createRedaction } from '../log/redaction.ts';
import { dropDraft, newCopy } from './export.ts';
import type { CopiedFile } from './export-versions.ts';

/** Identifies the version that a server sent, to request only a newer one (RFC 9110 sections 8.8 and 13.1). */
export type Validators = { etag?: string; lastModified?: string };

export type DownloadOrder = {
  url: URL;
  source: string;
  /** Folder for the copies of this source alone. */
  spool: string;
  authorization: Secret | undefined;
  /** Of the last version taken. */
  validators: Validators | undefined;
  at: Date;
  /** Maximum milliseconds for the complete download. */
  timeout: number;
  /** Maximum milliseconds without a byte. */
  idle: number;
  /** Maximum bytes. */
  most: number;
};

/** `absent`: the server has no such file (yet). */
export type Downloaded =
  | { kind: 'copy'; copy: CopiedFile; validators: Validators }
  | { kind: 'unchanged' }
  | { kind: 'absent' };

/**
 * Downloads a version newer than the last into `spool/<batch>/`, under a hidden name. Redirects are not followed. PoSyncError `export-unreachable`, `export-refused` for any other status, `export-cut-off` if
 * completeness is not certain, `export-too-large`.
 */
export async function download(order: DownloadOrder, http: Http): Promise<Downloaded> {
  const copied = await newCopy({ ...order, name: fileNameOf(order.url) }, async (draft) => {
    const found = await fetchInto(draft, order, http);
    return { ...found, verdict: verdictOn(found.answer, order.url, found.bytes) };
  });
  const { answer, verdict, ...copy } = copied;
  if (verdict === 'complete')
    return { kind: 'copy', copy, validators: validatorsOf(answer, order.authorization) };
  await dropDraft(copy);
  return { kind: verdict };
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
      // Synchronous, so that memory holds only one chunk even if the disk is slow.
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

function verdictOn(
  { status, headers }: HttpAnswer,
  url: URL,
  bytes: number,
): 'complete' | 'unchanged' | 'absent' {
  if (status === 304) return 'unchanged';
  if (status === 404 || status === 410) return 'absent';
  if (status !== 200) throw refused(url, status);
  const length = headers['content-length'];
  const isCertain =
    length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) === bytes;
  if (!isCertain) throw cutOff(url, bytes);
  return 'complete';
}

/** Short ones only, and none that repeats the credentials, also a password within them: they are stored in Redis. */
function validatorsOf({ headers }: HttpAnswer, authorization: Secret | undefined): Validators {
  const redaction = createRedaction();
  const credentials = authorization?.reveal().replace(/^\S+ +/, '') ?? '';
  const password = Buffer.from(credentials, 'base64')
    .toString()
    .replace(/^[^:]*:/, '');
  for (const secret of [credentials, password]) redaction.hideSecret(secret);
  const isKept = (text: string | undefined) =>
    text !== undefined && text.length <= LONGEST_VALIDATOR && redaction.redact(text) === text;
  const { etag, 'last-modified': lastModified } = headers;
  return {
    ...(isKept(etag) && { etag }),
    ...(isKept(lastModified) && { lastModified }),
  };
}

const LONGEST_VALIDATOR = 1024;
const LONGEST = 120;

/** The last step of the path as a safe file name. */
function fileNameOf({ pathname }: URL): string {
  const step = path.posix.basename(pathname);
  const name = step
    .replace(/%20/g, ' ')
    .replace(/[^A-Za-z0-9._ -]/g, '_')
    .replace(/^[.\s]+/, '');
  return name.slice(-LONGEST) || 'export';
}

/** The address without its query, which may contain a secret. */
export function shownAddress({ origin, pathname }: URL): string {
  return origin + pathname;
}

function unreachable(url: URL, cause: Error): PoSyncError {
  return new PoSyncError(
    'export-unreachable',
    `${shownAddress(url)} did not give a complete answer: ${withoutStop(cause.message)}.`,
    {
      cause,
      ...(cause instanceof PoSyncError && cause.remedy !== undefined && { remedy: cause.remedy }),
    },
  );
}

function refused(url: URL, status: number): PoSyncError {
  return new PoSyncError('export-refused', `${shownAddress(url)} answered ${status}.`, {
    remedy:
      status === 401 || status === 403
        ? 'Check PO_SYNC_SOURCE_<NAME>_AUTHORIZATION, or _USER and _PASSWORD.'
        : 'Set the final address as path of the source: redirects are not followed.',
    facts: { status },
  });
}

function cutOff(url: URL, bytes: number): PoSyncError {
  const message = `${shownAddress(url)} sent no length, or fewer bytes than announced (${bytes} bytes received).`;
  return new PoSyncError('export-cut-off', message, {
    remedy: 'Check the server and the network. The file is downloaded again at the next poll.',
    facts: { bytes },
  });
}

function tooLarge({ url, most: limit }: DownloadOrder): PoSyncError {
  return new PoSyncError(
    'export-too-large',
    `${shownAddress(url)} is larger than ${limit} bytes.`,
    {
      remedy: 'Have the server offer a smaller file.',
      facts: { limit },
    },
  );
}
