import { BlockList, isIP } from 'node:net';
import { PoSyncError } from '../core/errors.ts';
import { failure, type Reply } from './reply.ts';
import type { Scope } from './sandbox-options.ts';
import type { Grant, TokenStore } from './token-store.ts';

/** A caller with a valid token, or the refusal it gets. */
export type Caller = { known: true; token: string; grant: Grant } | { known: false; refusal: Reply };

/** Checks the Authorization header (API part 5, rules 1 and 2; challenges of RFC 6750 section 3). */
export function authenticate(header: string | undefined, tokens: TokenStore, realm: string): Caller {
  if (header === undefined) return stranger(realm, 'The header Authorization: Bearer <ACCESS_TOKEN> is missing.');
  const token = tokenIn(header);
  if (token === undefined)
    return stranger(realm, 'The header Authorization must be: Bearer <ACCESS_TOKEN>.', 'invalid_token');
  const grant = tokens.find(token);
  if (grant === undefined)
    return stranger(realm, 'The access token is not known in this environment.', 'invalid_token');
  if (grant.expiresAt <= Date.now()) return stranger(realm, 'The access token has expired.', 'invalid_token');
  return { known: true, token, grant };
}

/** The refusal of a token that lacks a scope, or undefined if it has the scope (`admin` includes all). */
export function withoutScope(grant: Grant, scope: Scope, realm: string): Reply | undefined {
  if (grant.scopes.has(scope) || grant.scopes.has('admin')) return undefined;
  const message = `The access token lacks the scope ${scope}.`;
  return failure(403, message, {
    'www-authenticate': challenge(realm, { error: 'insufficient_scope', message, scope }),
  });
}

/** The 401 for a token that was valid until now. */
export function revoked(realm: string): Reply {
  return refusal(realm, 'The access token was revoked.', 'invalid_token');
}

function tokenIn(header: string): string | undefined {
  return /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(header)?.[1];
}

function stranger(realm: string, message: string, error?: string): Caller {
  return { known: false, refusal: refusal(realm, message, error) };
}

function refusal(realm: string, message: string, error?: string): Reply {
  // RFC 6750 section 3.1: the answer to a request without credentials contains no error code.
  const more = error === undefined ? {} : { error, message };
  return failure(401, message, { 'www-authenticate': challenge(realm, more) });
}

function challenge(realm: string, more: { error?: string; message?: string; scope?: string }): string {
  const parts = [`realm="${realm}"`];
  if (more.error !== undefined) parts.push(`error="${more.error}"`, `error_description="${more.message}"`);
  if (more.scope !== undefined) parts.push(`scope="${more.scope}"`);
  return `Bearer ${parts.join(', ')}`;
}

/** Returns whether a peer may call. */
export type AllowList = (peer: { readonly remoteAddress?: string | undefined }) => boolean;

/**
 * Reads CIDR ranges (`10.0.0.0/8`, `::1/128`) and single addresses; an empty list admits every peer.
 * Throws PoSyncError `sandbox-allow-ip-invalid`.
 */
export function allowList(ranges: readonly string[]): AllowList {
  if (ranges.length === 0) return () => true;
  const list = new BlockList();
  for (const range of ranges) add(list, range);
  return ({ remoteAddress }) => {
    if (remoteAddress === undefined) return false;
    const plain = remoteAddress.replace(/^::ffff:(?=\d+\.)/, '');
    return list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
  };
}

function add(list: BlockList, range: string): void {
  const [address = '', prefix, ...rest] = range.trim().split('/');
  const version = isIP(address);
  const longest = version === 6 ? 128 : 32;
  const bits = prefix === undefined ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
  if (version === 0 || rest.length > 0 || bits < 0 || bits > longest) {
    throw new PoSyncError('sandbox-allow-ip-invalid', `"${range}" is not an address range.`, {
      remedy: 'Use a range such as 10.0.0.0/8, 192.168.1.17 or fd00::/8.',
      facts: { value: range },
    });
  }
  list.addSubnet(address, bits, version === 6 ? 'ipv6' : 'ipv4');
}
