import type { Environment } from '../config/config.ts';
import type { Secret } from '../config/secret.ts';
import { PoSyncError, reasonOf } from '../core/errors.ts';
import { withoutStop } from '../core/format.ts';
import type { Http, HttpAnswer } from '../core/http.ts';
import { createRedaction } from '../log/redaction.ts';
import { isRecord, jsonOf, plainWords, readRetryAfter, withWait } from './classify.ts';

/** How a token of the environment is requested. */
export type TokenSettings = Environment['token'];

type TokenPath = Exclude<TokenSettings['path'], 'auto'>;

/** The two spellings of API part 5. */
const TOKEN_PATHS: readonly TokenPath[] = ['/oauth2/token', '/oauth/token'];

/** `hidden`: other values that no text may show. */
export type Credentials = { clientId: string; clientSecret: string; hidden?: readonly Secret[] };

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
  | { kind: 'unclear'; status: number; isJson: boolean; error: PoSyncError };

const TIMEOUT = 10_000;
/** RFC 6749 only recommends expires_in. */
const LIFETIME_UNKNOWN = 300_000;
const LONGEST = 24 * 3_600_000;
/** The errors of RFC 6749 part 5.2 and 4.1.2.1; gateways write `Forbidden` in the same field. */
const OAUTH_ERROR = /^(invalid_|unauthorized_client|unsupported_|access_denied)/;
/** What most servers accept as a header, and twice what any token service is known to issue. */
const LONGEST_TOKEN = 8192;
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
  const best =
    known.find(({ status }) => status === 401) ?? known.find(({ isJson }) => isJson) ?? known[0];
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
  { status, headers, body: bytes }: HttpAnswer,
  address: string,
  credentials: Credentials,
): Reply {
  const json = jsonOf(bytes);
  const isJson = isRecord(json);
  const {
    access_token: value,
    token_type: type,
    expires_in: seconds,
    error,
    error_description: why,
  } = isJson ? json : {};
  const [said, described] = [error, why].map((text) => serverWords(text, credentials, value));
  if (said && OAUTH_ERROR.test(said) && [200, 400, 401, 403].includes(status))
    return { kind: 'refused', error: refusal(status, said, address, described) };
  if (status === 401)
    return { kind: 'unclear', status, isJson, error: refusal(status, undefined, address) };
  const answers = `the token endpoint ${address} answers HTTP ${status}`;
  const fault = isJson
    ? faultOf(value, serverWords(type, credentials, value))
    : ' with an answer that is not a JSON object';
  if (status !== 200 || fault !== '') {
    const first = status === 200 || !isJson ? answers + fault : answers;
    const message = [first, said ?? '', described ?? ''].filter(Boolean).map(withoutStop);
    const asked = readRetryAfter(headers['retry-after'], new Date());
    return { kind: 'unclear', status, isJson, error: unclear(status, message.join(': '), asked) };
  }
  const lifetime = typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : LIFETIME_UNKNOWN;
  return { kind: 'granted', value: String(value), lifetime: Math.min(lifetime, LONGEST) };
}

/** Why what was granted cannot be sent as a bearer token; empty if it can. Shows no part of the token. */
function faultOf(value: unknown, type: string | undefined): string {
  if (value === undefined || value === null) return ' without access_token';
  if (typeof value !== 'string') return ' with an access_token that is no text';
  if (value === '' || value.length > LONGEST_TOKEN)
    return ` with an access_token of ${value.length} characters; po-sync sends at most ${LONGEST_TOKEN}`;
  const odd = /[^\x21-\x7e]/u.exec(value);
  if (odd) {
    const code = (odd[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return ` with an access_token that no header can carry: U+${code} at position ${odd.index + 1} of ${value.length}`;
  }
  if (type === undefined) return ' without token_type';
  return type.toLowerCase() === 'bearer' ? '' : ` with token_type "${type}" instead of Bearer`;
}

/**
 * An answer that is neither a token nor a refusal. Where it is no outage, somebody has to look at it. `asked`: for how many
 * milliseconds the endpoint wants no request.
 */
function unclear(status: number, message: string, asked: number | undefined): PoSyncError {
  const remedy =
    'Check authUrl and token.path of the environment; if they are correct, ask the owner of that server.';
  return new PoSyncError('token-unavailable', withWait(message, asked, 'it'), {
    ...(status < 500 && status !== 429 && { remedy }),
    facts: { httpStatus: status, ...(asked !== undefined && { retryAfterMs: asked }) },
  });
}

const REFUSED_REMEDY =
  "Check the client ID and the client secret of this environment, and clientAuth, scope, audience and resource of its token; if they are correct, ask the API's owner.";

/** `why`: the endpoint's description of the error. */
function refusal(
  status: number,
  said: string | undefined,
  address: string,
  why?: string,
): PoSyncError {
  const words = [said, why && withoutStop(why)].filter(Boolean).join(': ');
  const message =
    said === undefined
      ? `the token endpoint ${address} answers HTTP ${status}.`
      : `the token endpoint ${address} refuses the credentials: ${words} (HTTP ${status}).`;
  const facts = { httpStatus: status, ...(said === undefined ? {} : { error: said }) };
  return new PoSyncError('token-refused', message, { remedy: REFUSED_REMEDY, facts });
}

/** A text of the server without repeated secrets and control characters, shortened; undefined without one. */
function serverWords(
  text: unknown,
  { clientSecret, hidden = [] }: Credentials,
  token: unknown,
): string | undefined {
  if (typeof text !== 'string' || text === '') return undefined;
  // Too long to be searched for.
  if (typeof token === 'string' && token.length > LONGEST_TOKEN) return undefined;
  const redaction = createRedaction();
  for (const one of [clientSecret, ...hidden.map((value) => value.reveal())])
    redaction.hideSecret(one);
  if (typeof token === 'string') redaction.hideToken(token);
  return plainWords(redaction.redact(text.slice(0, 10_000)), WORDS);
}
