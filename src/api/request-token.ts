import { PoSyncError } from '../core/errors.ts';
import type { Http, HttpAnswer } from '../core/http.ts';
import { reasonOf } from './classify.ts';
import { isRecord } from './envelope.ts';

/** The two spellings of spec part 5. */
export const TOKEN_PATHS = ['/oauth2/token', '/oauth/token'] as const;

export type TokenPath = (typeof TOKEN_PATHS)[number];

export type Credentials = { clientId: string; clientSecret: string };

/** A token as it was granted. `lifetime` in milliseconds. */
export type Grant = { value: string; lifetime: number; path: TokenPath };

const TIMEOUT = 10_000;
/** RFC 6749 only recommends expires_in. */
const LIFETIME_UNSAID = 300_000;
const LONGEST = 24 * 3_600_000;

/**
 * Asks for a token with the client credentials grant (spec part 5). `paths` are tried in turn: an environment that
 * does not know one answers 404 or 405 there.
 * Throws PoSyncError `token-refused` when the endpoint says a clear no, `token-unavailable` when it is away or broken.
 */
export async function requestToken(
  http: Http,
  authUrl: string,
  paths: readonly TokenPath[],
  credentials: Credentials,
  scope: string | undefined,
): Promise<Grant> {
  for (const path of paths) {
    const answer = await post(http, new URL(`${authUrl}${path}`), formOf(credentials, scope));
    if (answer.status === 404 || answer.status === 405) continue;
    return { ...readGrant(answer, `${authUrl}${path}`), path };
  }
  throw new PoSyncError('token-refused', `${authUrl} knows no token endpoint at ${paths.join(' or ')}.`, {
    remedy: 'Check authUrl and tokenPath of the environment.',
  });
}

function formOf({ clientId, clientSecret }: Credentials, scope: string | undefined): string {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  });
  if (scope !== undefined) form.set('scope', scope);
  return form.toString();
}

async function post(http: Http, url: URL, body: string): Promise<HttpAnswer> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
  const end = await http.call({ method: 'POST', url, headers, body, timeout: TIMEOUT, maxBytes: 64 * 1024 });
  if (end.kind === 'answered') return end.answer;
  throw new PoSyncError('token-unavailable', `the token endpoint ${url.href} does not answer: ${reasonOf(end.error)}`, {
    cause: end.error,
  });
}

function readGrant(answer: HttpAnswer, address: string): Omit<Grant, 'path'> {
  const body = parse(answer.body);
  if (answer.status !== 200) throw refusalOf(answer.status, body, address);
  const { access_token: value, token_type: type, expires_in: seconds } = isRecord(body) ? body : {};
  if (typeof value !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(value))
    throw strange(address, 'no usable access_token');
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    throw strange(address, 'a token_type other than Bearer');
  const lifetime = typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : LIFETIME_UNSAID;
  return { value, lifetime: Math.min(lifetime, LONGEST) };
}

function refusalOf(status: number, body: unknown, address: string): PoSyncError {
  const code = isRecord(body) && typeof body['error'] === 'string' ? body['error'] : undefined;
  const facts = { httpStatus: status, ...(code === undefined ? {} : { error: code.slice(0, 100) }) };
  if ((status === 400 || status === 401 || status === 403) && code !== undefined) {
    return new PoSyncError(
      'token-refused',
      `the token endpoint ${address} refuses the credentials: ${code} (HTTP ${status}).`,
      {
        remedy: mendFor(code),
        facts,
      },
    );
  }
  return status === 401 || status === 403
    ? new PoSyncError('token-refused', `the token endpoint ${address} answers HTTP ${status}.`, {
        remedy: mendFor(''),
        facts,
      })
    : new PoSyncError('token-unavailable', `the token endpoint ${address} answers HTTP ${status}`, { facts });
}

function mendFor(code: string): string {
  return code === 'invalid_scope'
    ? 'Check the scope of the environment in the configuration.'
    : 'Check client id and secret of this environment; each environment has its own.';
}

function strange(address: string, what: string): PoSyncError {
  return new PoSyncError('token-unavailable', `the token endpoint ${address} answered HTTP 200 with ${what}`);
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
