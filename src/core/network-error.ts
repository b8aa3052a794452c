import { codeOf, PoSyncError } from './errors.ts';

/** What a TLS failure means: Node's own codes come from checking the certificate, `ERR_SSL_…` from OpenSSL. */
type Meaning = readonly [
  codes: RegExp,
  code: string,
  what: (host: string, error: Error) => string,
  remedy: string,
];

const MEANINGS: readonly Meaning[] = [
  [
    /^CERT_HAS_EXPIRED$/,
    'tls-expired',
    (host) => `the certificate of ${host}, or of an issuer of it, has expired.`,
    'Ask the owner of that server for a new certificate, and check the clock of this machine.',
  ],
  [
    /^CERT_NOT_YET_VALID$/,
    'tls-not-yet-valid',
    (host) => `the certificate of ${host} is not valid yet.`,
    'Check the clock of this machine, or ask the owner of that server.',
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    'tls-wrong-host',
    (host, error) => `the certificate of ${host} is for another host (${namesIn(error)}).`,
    'Check the address. If the server is known by another name, set tls.serverName to that name.',
  ],
  [
    /^DEPTH_ZERO_SELF_SIGNED_CERT$/,
    'tls-self-signed',
    (host) => `the certificate of ${host} is self-signed, and not trusted.`,
    'Add it to tls.caFile, or ask the owner of that server for one of a certificate authority.',
  ],
  [
    /^UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(_LOCALLY)?)$/,
    'tls-issuer-missing',
    (host) =>
      `the certificate of ${host} cannot be verified: neither the server nor tls.caFile has the certificate of its issuer.`,
    'Ask the owner of that server to send the complete chain. If the missing certificate is that of a root authority, add it to tls.caFile.',
  ],
  [
    /^(SELF_SIGNED_CERT_IN_CHAIN|CERT_UNTRUSTED|INVALID_CA|CERT_SIGNATURE_FAILURE|CERT_REVOKED|CERT_CHAIN_TOO_LONG|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|CERT_REJECTED)$/,
    'tls-untrusted',
    (host, error) => `the certificate of ${host} is not accepted (${error.message.split(';')[0]}).`,
    'If its authority is your own, set tls.caFile to the certificate of that; otherwise ask the owner of that server.',
  ],
  [
    /(ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS_AVAILABLE|VERSION_TOO_LOW)$/,
    'tls-version',
    (host) => `${host} and po-sync have no TLS version in common.`,
    'Update that server, or lower tls.minVersion (TLSv1.2 is the lowest).',
  ],
  [
    /(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/,
    'tls-not-spoken',
    (host) => `${host} does not use TLS on this port.`,
    'Check protocol and port of the address.',
  ],
  [
    /ALERT_(BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_\w+|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE)$/,
    'tls-client-certificate',
    (host, error) => `${host} refuses the TLS connection of this client (${alertOf(error)}).`,
    'Check tls.certFile and tls.keyFile: the server requires a valid client certificate of a CA that it trusts.',
  ],
];

/** Whether a code says that the connection to a server failed: a proxy, or TLS. */
export function isNetworkCode(code: string): boolean {
  return /^(proxy|tls)-/.test(code);
}

const CLOSED = /before secure TLS connection was established/;

/** A failure of a TLS handshake with `host` as PoSyncError `tls-…`; any other error unchanged. */
export function explainConnection(error: Error, host: string): Error {
  if (error instanceof PoSyncError) return error;
  if (CLOSED.test(error.message)) return closed(host, error);
  const found = MEANINGS.find(([codes]) => codes.test(codeOf(error) ?? ''));
  if (found === undefined) return error;
  const [, code, what, remedy] = found;
  return new PoSyncError(code, what(host, error), { remedy, cause: error });
}

function closed(host: string, cause: Error): PoSyncError {
  return new PoSyncError('tls-refused', `${host} closed the connection during the TLS handshake.`, {
    remedy:
      'Check address and port. A server that requires a client certificate needs tls.certFile and tls.keyFile.',
    cause,
  });
}

/**
 * Whether a server ended a connection because of the client's certificate. In TLS 1.3 the client learns this after its first
 * bytes, but the server never reads them: only a handshake can fail in this way (RFC 8446 part 6.2).
 */
export function isCertificateAlert(error: Error): boolean {
  return /ALERT_(BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_(REVOKED|EXPIRED|UNKNOWN|REQUIRED)|UNKNOWN_CA)$/.test(
    codeOf(error) ?? '',
  );
}

function namesIn(error: Error): string {
  const cert = 'cert' in error && typeof error.cert === 'object' ? error.cert : undefined;
  const names =
    cert && 'subjectaltname' in cert && typeof cert.subjectaltname === 'string'
      ? cert.subjectaltname
      : '';
  return names.replace(/DNS:|IP Address:/g, '').slice(0, 200) || 'no name';
}

function alertOf(error: Error): string {
  const [, alert = 'handshake failure'] = /ALERT_(\w+)$/.exec(codeOf(error) ?? '') ?? [];
  return alert.toLowerCase().replaceAll('_', ' ');
}
