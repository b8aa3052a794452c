import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import { codeOf, PoSyncError, toError } from './errors.ts';

/** How TLS connections are made. Files are absolute paths to PEM; `caFile` replaces the public certificate authorities. */
export type TlsSettings = {
  caFile?: string;
  certFile?: string;
  keyFile?: string;
  minVersion?: 'TLSv1.2' | 'TLSv1.3';
  serverName?: string;
};

/** Options of `tls.connect`; `hasCertificate`: a client certificate is presented. */
export type Tls = { secureContext: SecureContext; servername?: string; hasCertificate: boolean };

type FileKey = 'caFile' | 'certFile' | 'keyFile';

/** Certificates in a PEM file; the first of a client's file is its own. Throws like `openTls`. */
function certificatesIn(key: FileKey, file: string): X509Certificate[] {
  const blocks = read(key, file).match(
    /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g,
  );
  if (blocks === null) throw invalid(key, file, 'it contains no certificate in PEM');
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (error) {
    throw invalid(key, file, toError(error).message);
  }
}

/** Reads the files and builds the options of connections from them. Throws PoSyncError `tls-file-unreadable` or `tls-file-invalid`. */
export function openTls(settings: TlsSettings, passphrase?: string): Tls {
  const { caFile, certFile, keyFile, minVersion, serverName } = settings;
  if (caFile !== undefined) certificatesIn('caFile', caFile);
  if (certFile !== undefined) certificatesIn('certFile', certFile);
  const ca = caFile === undefined ? {} : { ca: read('caFile', caFile) };
  const cert = certFile === undefined ? {} : { cert: read('certFile', certFile) };
  const key = keyFile === undefined ? {} : { key: read('keyFile', keyFile) };
  try {
    const secureContext = createSecureContext({
      ...ca,
      ...cert,
      ...key,
      ...(passphrase !== undefined && { passphrase }),
      ...(minVersion !== undefined && { minVersion }),
    });
    const servername = serverName === undefined ? {} : { servername: serverName };
    return { secureContext, ...servername, hasCertificate: certFile !== undefined };
  } catch (error) {
    throw invalid(
      'keyFile',
      keyFile ?? '',
      `${toError(error).message}; check that it belongs to certFile and that the passphrase is correct`,
    );
  }
}

function read(key: FileKey, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new PoSyncError(
      'tls-file-unreadable',
      `tls.${key}: ${file} cannot be read (${codeOf(cause) ?? 'unknown error'}).`,
      {
        remedy: 'Correct the path, or give the user that runs po-sync read permission.',
        facts: { file },
        cause,
      },
    );
  }
}

function invalid(key: FileKey, file: string, how: string): PoSyncError {
  return new PoSyncError('tls-file-invalid', `tls.${key}: ${file} cannot be used: ${how}.`, {
    remedy:
      'Use PEM files. An encrypted key needs its passphrase, as PO_SYNC_…_TLS_PASSPHRASE_FILE.',
    facts: { file },
  });
}
