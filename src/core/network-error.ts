import { codeOf, PoSyncError } from './errors.ts';
import { iso, moment } from './format.ts';
import { chainOf, type Link } from './peer-chain.ts';

/** What was seen: the server, its certificates as far as known, and who is trusted instead of the public authorities. */
type Seen = {
  host: string;
  error: Error;
  chain: readonly Link[];
  authorities: readonly string[] | undefined;
};

/** What a TLS failure means: its code for programs, what happened, and what to do. */
type Meaning = {
  codes: RegExp;
  code: string;
  what: (seen: Seen) => string;
  remedy: string | ((seen: Seen) => string);
};

/** Node's own codes come from checking the certificate, `ERR_SSL_…` from OpenSSL. */
const MEANINGS: readonly Meaning[] = [
  {
    codes: /^CERT_HAS_EXPIRED$/,
    code: 'tls-expired',
    what: ({ host, chain }) => {
      const now = Date.now();
      const expired = chain.findIndex(({ to }) => to < now);
      const { subject, to } = chain[expired] ?? {};
      const since = to === undefined ? '' : ` on ${moment(iso(to))}`;
      return expired > 0
        ? `the certificate of ${subject}, an issuer of the certificate of ${host}, expired${since}.`
        : `the certificate of ${host} expired${since}.`;
    },
    remedy:
      'Ask the owner of that server for a new certificate, and check the clock of this machine.',
  },
  {
    codes: /^CERT_NOT_YET_VALID$/,
    code: 'tls-not-yet-valid',
    what: ({ host, chain }) => {
      const from = Math.max(...chain.map((one) => one.from));
      const until = Number.isFinite(from) ? ` before ${moment(iso(from))}` : ' yet';
      return `the certificate of ${host} is not valid${until}.`;
    },
    remedy: 'Check the clock of this machine, or ask the owner of that server.',
  },
  {
    codes: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    code: 'tls-wrong-host',
    what: ({ host, error }) =>
      `the certificate of ${host} is for another host (${namesIn(error)}).`,
    remedy:
      'Check the address. If the server is known by another name, set tls.serverName to that name.',
  },
  {
    codes: /^DEPTH_ZERO_SELF_SIGNED_CERT$/,
    code: 'tls-self-signed',
    what: ({ host }) => `the certificate of ${host} is self-signed, and not trusted.`,
    remedy: ({ authorities }) =>
      `${authorities ? `Add it to tls.caFile, which contains ${authorities.join(', ')}` : 'Set tls.caFile to that certificate'}, or ask the owner of that server for one of a certificate authority.`,
  },
  {
    codes: /^SELF_SIGNED_CERT_IN_CHAIN$/,
    code: 'tls-untrusted',
    what: ({ host, chain }) =>
      `the certificate of ${host} was issued by an authority that is not trusted${chain.length === 0 ? '' : ` (${chain.at(-1)?.subject})`}.`,
    remedy: ({ authorities }) =>
      authorities
        ? `tls.caFile contains ${authorities.join(', ')}: set it to the certificate of that authority.`
        : 'If it is your own, set tls.caFile to its certificate.',
  },
  {
    codes: /^UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(_LOCALLY)?)$/,
    code: 'tls-issuer-missing',
    what: ({ host, chain, authorities }) => {
      const { issuer = 'the issuer' } = chain.at(-1) ?? {};
      return `the certificate of ${host} cannot be verified: the server does not send the certificate of ${issuer}, and ${authorities ? `tls.caFile does not contain it, only ${authorities.join(', ')}` : 'it is no public authority'}.`;
    },
    remedy: ({ authorities }) =>
      `Ask the owner of that server to send the complete chain. If the missing certificate is that of a root authority, ${authorities ? 'add it to tls.caFile' : 'set tls.caFile to it'}.`,
  },
  {
    codes:
      /^(CERT_UNTRUSTED|INVALID_CA|CERT_SIGNATURE_FAILURE|CERT_REVOKED|CERT_CHAIN_TOO_LONG|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|CERT_REJECTED)$/,
    code: 'tls-untrusted',
    what: ({ host, error }) =>
      `the certificate of ${host} is not accepted (${error.message.split(';')[0]}).`,
    remedy: ({ authorities }) =>
      `Ask the owner of that server${authorities ? ', or renew tls.caFile: an authority of the same name may have a new key' : ''}.`,
  },
  {
    codes: /(ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS_AVAILABLE|VERSION_TOO_LOW)$/,
    code: 'tls-version',
    what: ({ host }) => `${host} and po-sync have no TLS version in common.`,
    remedy: 'Update that server, or lower tls.minVersion (TLSv1.2 is the lowest).',
  },
  {
    codes: /(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/,
    code: 'tls-not-spoken',
    what: ({ host }) => `${host} does not use TLS on this port.`,
    remedy: 'Check protocol and port of the address.',
  },
  {
    codes:
      /ALERT_(BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_\w+|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE)$/,
    code: 'tls-client-certificate',
    what: ({ host, error }) =>
      `${host} refuses the TLS connection of this client (${alertOf(error)}).`,
    remedy:
      'Check tls.certFile and tls.keyFile: the server requires a valid client certificate of a CA that it trusts.',
  },
];

/** Whether a code says that the connection to a server failed: a proxy, or TLS. */
export function isNetworkCode(code: string): boolean {
  return /^(proxy|tls)-/.test(code);
}

const CLOSED = /before secure TLS connection was established/;

/**
 * A failure of a TLS handshake with `host` as PoSyncError `tls-…`; any other error unchanged. `authorities`: the names of those
 * that are trusted instead of the public ones.
 */
export function explainConnection(
  error: Error,
  host: string,
  authorities?: readonly string[],
): Error {
  if (error instanceof PoSyncError) return error;
  if (CLOSED.test(error.message)) return closed(host, error);
  const found = MEANINGS.find(({ codes }) => codes.test(codeOf(error) ?? ''));
  if (found === undefined) return error;
  const { code, what, remedy } = found;
  const seen: Seen = { host, error, chain: chainOf(error), authorities };
  return new PoSyncError(code, what(seen), {
    remedy: typeof remedy === 'string' ? remedy : remedy(seen),
    cause: error,
  });
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

/** A connection through a proxy that ended before the answer. */
export function tunnelLost(proxy: string, cause: Error): PoSyncError {
  const message = `the connection through the proxy ${proxy} was lost: ${cause.message}.`;
  return new PoSyncError('proxy-lost', message, {
    remedy: 'Check the proxy: it or the API closed the connection.',
    cause,
  });
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
