import {
  createPrivateKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { toError } from '../core/errors.ts';
import { makePathSync, PRIVATE_FOLDER } from '../core/folder.ts';
import { unusable } from './database.ts';

/** A PEM certificate with its private key; `file` is where the certificate is stored, if it is. */
export type Certificate = { cert: string; key: string; file?: string };

const DAY = 86_400_000;
/** What clients accept at most. */
const VALID_DAYS = 397;

/**
 * The self-signed certificate of a sandbox for some host names and addresses. It stays the same between runs, stored in
 * `folder`, until it expires or lacks a name; without a folder it is new every time.
 * Throws PoSyncError `sandbox-data-unusable`.
 */
export function selfSigned(
  folder: string | undefined,
  environment: string,
  hosts: readonly string[],
): Certificate {
  // A certificate has IPv6 addresses without brackets and without a zone.
  const plain = hosts.map((host) => host.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, ''));
  const names = [...new Set(['localhost', '127.0.0.1', '::1', ...plain])];
  if (folder === undefined) return create(names);
  const [file, keyFile] = [
    join(folder, `${environment}.cert.pem`),
    join(folder, `${environment}.key.pem`),
  ];
  const stored = read(file, keyFile);
  if (stored !== undefined && isUsable(stored, names)) return { ...stored, file };
  const made = create(names);
  try {
    makePathSync(folder, PRIVATE_FOLDER);
    writeFileSync(keyFile, made.key, { mode: 0o600 });
    writeFileSync(file, made.cert);
  } catch (error) {
    throw unusable(file, toError(error));
  }
  return { ...made, file };
}

function read(file: string, keyFile: string): Certificate | undefined {
  try {
    return { cert: readFileSync(file, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  } catch {
    return undefined;
  }
}

function isUsable({ cert, key }: Certificate, names: readonly string[]): boolean {
  try {
    const parsed = new X509Certificate(cert);
    const covers = (name: string) =>
      (isIP(name) ? parsed.checkIP(name) : parsed.checkHost(name)) !== undefined;
    return (
      parsed.validToDate.getTime() > Date.now() + DAY && names.every(covers) && fits(parsed, key)
    );
  } catch {
    return false;
  }
}

function fits(certificate: X509Certificate, key: string): boolean {
  return certificate.checkPrivateKey(createPrivateKey(key));
}

/** Builds a self-signed X.509 v3 certificate with an EC P-256 key (RFC 5280 section 4.1). */
function create(names: readonly string[]): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid(ECDSA_WITH_SHA256));
  const name = sequence(
    der(0x31, sequence(oid(COMMON_NAME), der(0x0c, Buffer.from('po-sync sandbox')))),
  );
  const now = Date.now();
  const body = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    name,
    sequence(time(now - DAY), time(now + (VALID_DAYS - 1) * DAY)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(authority(), subjectNames(names))),
  );
  const signature = sign('sha256', body, privateKey);
  const certificate = sequence(body, algorithm, der(0x03, Buffer.from([0]), signature));
  return {
    cert: pem(certificate),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

const ECDSA_WITH_SHA256 = '2a8648ce3d040302';
const COMMON_NAME = '550403';
const BASIC_CONSTRAINTS = '551d13';
const SUBJECT_ALT_NAME = '551d11';

/** Marks the certificate as its own authority, so that clients can trust it as one. */
function authority(): Buffer {
  const isCritical = der(0x01, Buffer.from([0xff]));
  return sequence(
    oid(BASIC_CONSTRAINTS),
    isCritical,
    der(0x04, sequence(der(0x01, Buffer.from([0xff])))),
  );
}

function subjectNames(names: readonly string[]): Buffer {
  const general = names.map((name) =>
    isIP(name) === 0 ? der(0x82, Buffer.from(name)) : der(0x87, addressBytes(name)),
  );
  return sequence(oid(SUBJECT_ALT_NAME), der(0x04, sequence(...general)));
}

/** The 4 or 16 bytes of an IP address. */
function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (part: string | undefined) => (part ? part.split(':') : []);
  const zeros = Array.from({ length: 8 - groups(head).length - groups(tail).length }, () => '0');
  const all = [...groups(head), ...(tail === undefined ? [] : zeros), ...groups(tail)];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

/** One element in the Distinguished Encoding Rules: tag, length, contents. */
function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const size = content.length.toString(16);
  const bytes = Buffer.from(size.length % 2 === 0 ? size : `0${size}`, 'hex');
  const length =
    content.length < 0x80 ? bytes : Buffer.concat([Buffer.from([0x80 + bytes.length]), bytes]);
  return Buffer.concat([Buffer.from([tag]), length, content]);
}

function sequence(...contents: Buffer[]): Buffer {
  return der(0x30, ...contents);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function integer(bytes: Buffer): Buffer {
  return der(0x02, bytes);
}

/** UTCTime, valid until 2049. */
function time(at: number): Buffer {
  return der(
    0x17,
    Buffer.from(`${new Date(at).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`),
  );
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
