import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isLoopback } from '../../config/fields.ts';
import type { AdminRole, AdminTokens } from '../../config/secrets.ts';
import { PoSyncError } from '../../core/errors.ts';
import { escapeHidden, shorten } from '../../order/text.ts';
import { type Principal, problemReply, type Reply, type Route } from './route.ts';
import { COOKIE, digest, type Sessions } from './session.ts';

export type GuardOptions = {
  /** The address that the port is bound to. */
  host: string;
  /** The address behind a proxy. */
  publicUrl?: string | undefined;
  tokens: AdminTokens;
  /** Absent: only tokens are accepted. */
  sessions?: Sessions | undefined;
  /** A login or a token was wrong. */
  onFailure?: (() => void) | undefined;
};

export type Guard = ReturnType<typeof createGuard>;

/** What a role includes. */
const RANK: Record<AdminRole | 'nobody', number> = { nobody: 0, metrics: 1, read: 2, operate: 3 };

/** Wrong tokens of an address in a minute; then no token of it is looked at. Addresses that are remembered. */
const FAILURES = 10;
const MINUTE = 60_000;
const ADDRESSES = 1_000;

/**
 * Guards the admin port. A web page can make a browser call this port under another name (DNS rebinding), from another
 * port of the same machine, or from anywhere: such requests are refused before anything else is looked at.
 */
export function createGuard({ host, publicUrl, tokens, sessions, onFailure }: GuardOptions) {
  const known = [...tokens].map(([role, token]) => ({ role, digest: digest(token.reveal()) }));
  const limit = createLimit();

  /** Who asks; undefined for somebody unknown; a reply for a wrong token. */
  async function identify(request: IncomingMessage): Promise<Principal | Reply | undefined> {
    const { headers } = request;
    const bearer = bearerOf(headers);
    if (bearer !== undefined) return byToken(bearer, nameIn(headers), addressOf(request));
    const value = cookieOf(headers);
    const person = value === undefined ? undefined : await sessions?.verify(value);
    return person ?? (known.length === 0 ? { role: 'read', who: '' } : undefined);
  }

  /** The owner of a token, who says how they are called; a reply for a wrong one. */
  function byToken(token: string, name: string, address: string): Principal | Reply {
    if (limit.wait(address) > 0) return tooMany(limit.wait(address));
    const given = digest(token);
    // Compares with each token, so that the time says nothing about which one it was.
    const roles = known.filter((one) => timingSafeEqual(one.digest, given)).map(({ role }) => role);
    const [role] = roles.sort((a, b) => RANK[b] - RANK[a]);
    if (role === undefined) return failed(address);
    return { role, who: name === '' ? 'token' : `${name.slice(0, 48)} (token)` };
  }

  function failed(address: string): Reply {
    limit.count(address);
    onFailure?.();
    return unknown('The token is wrong.');
  }

  /** A refusal, or undefined when the person may use the route; `undefined` is a path that does not exist. */
  function refuseRole(
    principal: Principal | undefined,
    route: Pick<Route, 'method' | 'needs'> | undefined,
  ) {
    const needs =
      route === undefined ? 'read' : (route.needs ?? (route.method === 'GET' ? 'read' : 'operate'));
    if (needs === 'nobody') return undefined;
    if (principal === undefined) return unknown('A login or a bearer token is required.');
    if (RANK[principal.role] >= RANK[needs]) return undefined;
    return refused(
      'not-allowed',
      `This needs the role ${needs}.`,
      known.length === 0 ? LINK_REMEDY : TOKEN_REMEDY,
    );
  }

  return {
    refuseForeign: createOriginCheck(host, publicUrl),
    isPlain: (request: IncomingMessage) => isPlain(request, publicUrl),
    identify,
    refuseRole,
    byToken,
    failed,
    hasTokens: known.length > 0,
  };
}

function tooMany(wait: number): Reply {
  const error = new PoSyncError('too-many-failures', 'Too many wrong tokens.', {
    remedy: 'Wait a minute, then log in with the right token.',
  });
  return problemReply(error, 429, { 'retry-after': String(Math.ceil(wait / 1_000)) });
}

/** Behind a proxy, all requests have its address. */
export function addressOf({ socket }: IncomingMessage): string {
  return socket.remoteAddress ?? '';
}

/** Builds the check of where a request comes from; it returns undefined for one that may pass. */
function createOriginCheck(host: string, publicUrl: string | undefined) {
  const outside = publicUrl === undefined ? undefined : new URL(publicUrl);

  /** Whatever its port: a page of another site changes where a name leads, and some proxies drop the port. */
  const isOutside = (name: string) => name.toLowerCase() === outside?.hostname;

  function isOwnName(given: string | undefined): boolean {
    if (given === undefined) return false;
    const name = withoutPort(given);
    if (isOutside(name) || isLoopback(name)) return true;
    return !isLoopback(host) && (outside === undefined || isIP(name.replace(/^\[|\]$/g, '')) > 0);
  }

  /** Reading needs no origin; a link may open a page. Everything else must come from a page of ours. */
  function isForeign({ method, url = '', headers }: IncomingMessage): boolean {
    const { 'sec-fetch-site': site, 'sec-fetch-mode': mode, origin } = headers;
    const isReading = method === 'GET' || method === 'HEAD';
    const name = withoutPort(headers.host ?? '');
    const direct = isOutside(name) && !isLoopback(name) ? undefined : `http://${headers.host}`;
    const isOwn = origin !== undefined && [direct, outside?.origin].includes(origin);
    if (!isReading) return site === undefined ? !isOwn : site !== 'same-origin';
    if (site === undefined) return origin !== undefined && !isOwn;
    if (site === 'same-origin' || site === 'none') return false;
    return mode !== 'navigate' || url.startsWith('/api/');
  }

  return (request: IncomingMessage): Reply | undefined => {
    const { headers } = request;
    if (!isOwnName(headers.host)) {
      return refused('foreign-host', foreignHost(headers.host, outside?.host), HOST_REMEDY);
    }
    if (bearerOf(headers) === undefined && isForeign(request)) {
      const from = headers.origin ?? headers['sec-fetch-site'];
      const why =
        from === undefined
          ? 'has no token and comes from no page'
          : 'comes from a page of another origin';
      return refused('foreign-origin', `The request ${why}.`, ORIGIN_REMEDY);
    }
    return undefined;
  };
}

function withoutPort(host: string): string {
  return host.replace(/:[0-9]+$/, '');
}

function foreignHost(given = '', expected?: string): string {
  const names =
    expected === undefined ? 'this machine, such as localhost' : `${expected} or this machine`;
  return `The Host header is "${escapeHidden(shorten(given, 100))}". It must name ${names}.`;
}

const ORIGIN_REMEDY = 'Use the pages of this port, or a bearer token.';
const HOST_REMEDY =
  'Behind a proxy, set admin.publicUrl to the address that people open, and let the proxy pass on its Host.';
const LINK_REMEDY = 'Run po-sync dashboard on this machine and open the link that it prints.';
const TOKEN_REMEDY = 'Sign in with another token.';

function refused(code: string, message: string, remedy?: string): Reply {
  return problemReply(new PoSyncError(code, message, remedy === undefined ? {} : { remedy }), 403);
}

function unknown(message: string): Reply {
  const remedy = 'Send the header Authorization: Bearer TOKEN, or sign in at /login.';
  return problemReply(new PoSyncError('not-signed-in', message, { remedy }), 401, {
    'www-authenticate': 'Bearer realm="po-sync"',
  });
}

/** Any text after Bearer counts as a token, so that an empty one is a wrong one. */
function bearerOf({ authorization }: IncomingHttpHeaders): string | undefined {
  return authorization === undefined
    ? undefined
    : (/^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '');
}

function nameIn(headers: IncomingHttpHeaders): string {
  const name = headers['po-sync-who'];
  return typeof name === 'string' ? name.trim() : '';
}

/** The value of the session cookie. */
export function cookieOf({ cookie = '' }: IncomingHttpHeaders): string | undefined {
  const found = cookie.split('; ').find((one) => one.startsWith(`${COOKIE}=`));
  return found?.slice(COOKIE.length + 1);
}

/** Whether a browser would not keep the session: it reached another machine without https. */
function isPlain({ headers }: IncomingMessage, publicUrl = ''): boolean {
  const name = withoutPort(headers.host ?? '');
  const isSecure = publicUrl.startsWith('https:') && name === new URL(publicUrl).hostname;
  return !isLoopback(name) && !isSecure && headers['x-forwarded-proto'] !== 'https';
}

/** Counts failures by address. `wait`: milliseconds, where there were too many in the last minute, else 0. */
function createLimit() {
  const failures = new Map<string, number[]>();
  const recent = (address: string) =>
    (failures.get(address) ?? []).filter((at) => performance.now() - at <= MINUTE);
  return {
    count(address: string): void {
      const all = recent(address);
      failures.delete(address);
      failures.set(address, [...all, performance.now()]);
      const [oldest] = failures.keys();
      if (failures.size > ADDRESSES && oldest !== undefined) failures.delete(oldest);
    },
    wait(address: string): number {
      const [first = 0, ...others] = recent(address);
      return others.length + 1 < FAILURES ? 0 : MINUTE - (performance.now() - first);
    },
  };
}
