import type { Environment } from '../config/config.ts';
import { PoSyncError, reasonOf } from '../core/errors.ts';
import { withoutStop } from '../core/format.ts';
import type { Http, HttpAnswer } from '../core/http.ts';
import { createRedaction } from '../log/redaction.ts';
import { isRecord, jsonOf, plainWords } from './classify.ts';

/** How a token of the environment is requested. */
export type TokenSettings = Environment['token'];

type TokenPath = Exclude<TokenSettings['path'], 'auto'>;

/** The two spellings of API part 5. */
const TOKEN_PATHS: readonly TokenPath[] = ['/oauth2/token', '/oauth/token'];

export type Credentials = { clientId: string; clientSecret: string };

/** A token as it was granted. `lifetime` in milliseconds. */
export type Grant = { value: string; lifetime: number; path: TokenPath };

type TokenRequest = {
  http: Http;
  authUrl: string;
  token: TokenSettings;
  /** The path that issued the last token; tried first. */
  known?: string | undefined;
  credentials: Credentials;
};

/** `refused` is a clear refusal by the token endpoint; `unclear` may come from any server at that address. */
type Reply =
  | { kind: 'granted'; value: string; lifetime: number }
  | { kind: 'refused'; error: PoSyncError }
  | { kind: 'unclear'; status: number; error: PoSyncError };

const TIMEOUT = 10_000;
/** RFC 6749 only recommends expires_in. */
const LIFETIME_UNKNOWN = 300_000;
const LONGEST = 24 * 3_600_000;
/** The errors of RFC 6749 part 5.2 and 4.1.2.1; gateways write `Forbidden` in the same field. */
const OAUTH_ERROR = /^(invalid_|unauthorized_client|unsupported_|access_denied)/;
/** Errors about what was asked for (RFC 6749 5.2, RFC 8707 2), not about who asks. */
const WRONG_FIELD = new Set(['invalid_scope', 'invalid_target']);
/** Maximum characters of the server's error, and of its description. */
const WORDS = 200;

/**
 * Requests a token with the client credentials grant (API part 5). The next path is tried unless one answers with a
 * token or with an OAuth error: a gateway may answer a path that it does not know with any status or page.
 * Throws PoSyncError `token-refused` when the endpoint clearly refuses, `token-unavailable` when it is unavailable or broken.
 */
export async function requestToken(request: TokenRequest): Promise<Grant> {
  const unclear: Extract<Reply, { kind: 'unclear' }>[] = [];
  const paths = pathsToTry(request);
  for (const path of paths) {
    const reply = await ask(request, `${request.authUrl}${path}`);
    if (reply.kind === 'granted') return { value: reply.value, lifetime: reply.lifetime, path };
    if (reply.kind === 'refused') throw reply.error;
    unclear.push(reply);
  }
  const known = unclear.filter(({ status }) => status !== 404 && status !== 405);
  // An HTTP 401 refuses the client even when its body is not OAuth's.
  const best = known.find(({ status }) => status === 401) ?? known[0];
  if (best) throw best.error;
  throw new PoSyncError(
    'token-refused',
    `${request.authUrl} has no token endpoint at ${paths.join(' or ')}.`,
    {
      remedy: 'Check authUrl and token.path of the environment.',
    },
  );
}

function pathsToTry({ token: { path }, known }: TokenRequest): readonly TokenPath[] {
  if (path !== 'auto') return [path];
  return TOKEN_PATHS.toSorted((a, b) => Number(b === known) - Number(a === known));
}

async function ask({ http, credentials, token }: TokenRequest, address: string): Promise<Reply> {
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
    ...(token.clientAuth === 'basic' && { authorization: basicOf(credentials) }),
  };
  const call = {
    method: 'POST',
    url: new URL(address),
    headers,
    body: formOf(credentials, token),
  } as const;
  const end = await http.call({ ...call, timeout: TIMEOUT, maxBytes: 64 * 1024 });
  if (end.kind === 'answered') return readReply(end.answer, address, credentials);
  const message = `the token endpoint ${address} does not answer: ${reasonOf(end.error)}`;
  throw new PoSyncError('token-unavailable', message, { cause: end.error });
}

function formOf({ clientId, clientSecret }: Credentials, token: TokenSettings): string {
  const { scope, audience, resource } = token;
  const client =
    token.clientAuth === 'form' ? { client_id: clientId, client_secret: clientSecret } : {};
  const given = Object.entries({ scope, audience, resource }).filter(
    (field): field is [string, string] => field[1] !== undefined,
  );
  const form = { grant_type: 'client_credentials', ...client, ...Object.fromEntries(given) };
  return new URLSearchParams(form).toString();
}

/** RFC 6749 2.3.1: both parts are encoded like form fields first. */
function basicOf({ clientId, clientSecret }: Credentials): string {
  const [id, secret] = [clientId, clientSecret].map((text) =>
    new URLSearchParams([['', text]]).toString().slice(1),
  );
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

function readReply(
  { status, body: bytes }: HttpAnswer,
  address: string,
  credentials: Credentials,
): Reply {
  const body = jsonOf(bytes);
  const {
    access_token: value,
    token_type: type,
    expires_in: seconds,
    error,
    ...more
  } = isRecord(body) ? body : {};
  if (typeof error === 'string' && OAUTH_ERROR.test(error) && [400, 401, 403].includes(status)) {
    const { error_description: why } = more;
    const words = (text: string) => serverWords(text, credentials, value);
    const described = typeof why === 'string' ? words(why) : '';
    return { kind: 'refused', error: refusal(status, words(error), address, described) };
  }
  if (status === 401)
    return { kind: 'unclear', status, error: refusal(status, undefined, address) };
  if (status !== 200) return unclear(status, `answers HTTP ${status}`, address);
  if (typeof value !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(value))
    return unclear(status, 'answers HTTP 200 without a usable access_token', address);
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    return unclear(status, 'answers HTTP 200 with a token_type other than Bearer', address);
  const lifetime = typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : LIFETIME_UNKNOWN;
  return { kind: 'granted', value, lifetime: Math.min(lifetime, LONGEST) };
}

function unclear(status: number, what: string, address: string): Reply {
  const error = new PoSyncError('token-unavailable', `the token endpoint ${address} ${what}`, {
    facts: { httpStatus: status },
  });
  return { kind: 'unclear', status, error };
}

/** `why`: the endpoint's description of the error; empty without one. */
function refusal(status: number, said: string | undefined, address: string, why = ''): PoSyncError {
  const words = why === '' ? said : `${said}: ${withoutStop(why)}`;
  const message =
    said === undefined
      ? `the token endpoint ${address} answers HTTP ${status}.`
      : `the token endpoint ${address} refuses the credentials: ${words} (HTTP ${status}).`;
  const remedy = WRONG_FIELD.has(said ?? '')
    ? 'Check scope, audience and resource in token of the environment.'
    : `Check the client ID and the client secret of this environment, which has its own, and token.clientAuth.${why === '' ? '' : " If they are correct, ask the API's owner."}`;
  const facts = { httpStatus: status, ...(said === undefined ? {} : { error: said }) };
  return new PoSyncError('token-refused', message, { remedy, facts });
}

/** The server's message without repeated secrets and control characters, shortened. */
function serverWords(text: string, { clientSecret }: Credentials, token: unknown): string {
  const redaction = createRedaction();
  redaction.hideSecret(clientSecret);
  if (typeof token === 'string') redaction.hideToken(token);
  return plainWords(redaction.redact(text.slice(0, 10_000)), WORDS);
}
