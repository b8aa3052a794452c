import { codeOf, PoSyncError } from './errors.ts';
import { withoutStop } from './format.ts';

/** What a TLS failure means: Node's own codes come from checking the certificate, `ERR_SSL_…` from OpenSSL. */
type Meaning = readonly [
  codes: RegExp,
  code: string,
  what: (host: string, error: Error) => string,
  remedy: string,
];

const MEANINGS: readonly Meaning[] = [
  [
    /^(CERT_|DEPTH_ZERO_|ERR_TLS_CERT_|INVALID_|PATH_LENGTH_|SELF_SIGNED_|UNABLE_TO_(GET|VERIFY)_)/,
    'tls-untrusted',
    (host, error) => `the certificate of ${host} is not accepted: ${reasonIn(error)}.`,
    'Check the address, the clock of this machine, and tls.caFile and tls.serverName; if they are right, ask the owner of that server for a valid certificate with its complete chain.',
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

/** Node adds what to do about a program to some of its reasons. */
function reasonIn({ message }: Error): string {
  return withoutStop(message.split(';')[0] ?? '').slice(0, 300);
}

function alertOf(error: Error): string {
  const [, alert = 'handshake failure'] = /ALERT_(\w+)$/.exec(codeOf(error) ?? '') ?? [];
  return alert.toLowerCase().replaceAll('_', ' ');
}
