import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from './context.ts';
import { rehearse } from './faults/rehearse.ts';
import { failure, type Reply } from './reply.ts';
import { type Call, readBody } from './request.ts';
import { type Client, type SandboxSettings, SCOPES, type Scope } from './sandbox-options.ts';

type Verdict = Granted | Refused;
type Granted = { granted: true; scopes: readonly Scope[] };
/** `byHeader`: the client authenticated, or has to, with the Authorization header. */
type Refused = { granted: false; error: TokenError; why: string; byHeader?: true };
type TokenError =
  | 'invalid_request'
  | 'invalid_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'server_error';
type Credentials = { id: string; secret: string; byHeader?: true };

const LARGEST_FORM = 16 * 1024;
/** RFC 6749 section 5.1: caches must store neither tokens nor refusals. */
const NO_STORE = { 'cache-control': 'no-store', pragma: 'no-cache' };

/** POST {auth_url}/oauth2/token: the client credentials grant (API part 5; RFC 6749 sections 4.4 and 5). */
export async function answerToken(call: Call, context: Context): Promise<Reply> {
  if (call.method !== 'POST') return onlyPost(call.method);
  const body = await readBody(call.request, LARGEST_FORM);
  if (body === 'gone') return { kind: 'drop', how: 'close' };
  const verdict = judge(call.headers, body, context.settings);
  const work = () => pronounce(verdict, context);
  const plan = context.faults.plan?.({ on: 'token', order: '' });
  if (plan === undefined) return work();
  const revoke = () =>
    pronounce({ ...no('invalid_client', 'The client secret was revoked.') }, context);
  return rehearse(plan, { work, revoke }, context.tasks);
}

/** The 500 of the token endpoint, for a call that failed with an unexpected error. */
export function tokenCrash(): Reply {
  return refusal(
    no('server_error', 'The service failed; the outcome of this request is unknown.'),
    '',
    500,
  );
}

function pronounce(verdict: Verdict, { tokens, settings, emit }: Context): Reply {
  emit({ type: 'token', at: Date.now(), outcome: verdict.granted ? 'issued' : verdict.error });
  if (!verdict.granted)
    return refusal(verdict, settings.environment, verdict.error === 'invalid_client' ? 401 : 400);
  const token = {
    access_token: tokens.issue(verdict.scopes),
    expires_in: settings.tokenLifetime,
    token_type: 'Bearer',
  };
  return { kind: 'complete', status: 200, body: JSON.stringify(token), headers: jsonHeaders() };
}

function judge(
  headers: IncomingHttpHeaders,
  body: Buffer | 'too-large',
  settings: SandboxSettings,
): Verdict {
  if (body === 'too-large')
    return no('invalid_request', `The form must not be larger than ${LARGEST_FORM} bytes.`);
  if (!/^application\/x-www-form-urlencoded *(?:;.*)?$/i.test(headers['content-type'] ?? '')) {
    return no(
      'invalid_request',
      'The header Content-Type must be application/x-www-form-urlencoded.',
    );
  }
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    return no('invalid_request', 'Send the form without the header Content-Encoding.');
  }
  const form = new URLSearchParams(body.toString('utf8'));
  const twice = [...new Set(form.keys())].find((name) => form.getAll(name).length > 1);
  if (twice !== undefined)
    return no('invalid_request', `The parameter ${twice.slice(0, 100)} is repeated.`);
  const grantType = form.get('grant_type') ?? '';
  if (grantType === '') return missing('grant_type');
  const given = credentialsIn(form, headers.authorization, settings.demand.clientAuth);
  if ('granted' in given) return given;
  if (grantType !== 'client_credentials') {
    return no('unsupported_grant_type', 'The parameter grant_type must be client_credentials.');
  }
  return judgeClient(given, form, settings);
}

/** The credentials of a request; those in the form count first, so that a foreign Authorization header does no harm. */
function credentialsIn(
  form: URLSearchParams,
  header: string | undefined,
  accepted: SandboxSettings['demand']['clientAuth'],
): Credentials | Refused {
  const [id, secret] = [form.get('client_id') ?? '', form.get('client_secret') ?? ''];
  const isForm = form.has('client_id') || form.has('client_secret');
  const isBasic = accepted === undefined && secret === '' && /^Basic\b/i.test(header ?? '');
  if (accepted === 'basic' || isBasic) return basicCredentials(header, id);
  if (!isForm && header !== undefined) {
    return {
      ...no('invalid_client', 'Send client_id and client_secret in the form.'),
      byHeader: true,
    };
  }
  if (id === '') return missing('client_id');
  return secret === '' ? missing('client_secret') : { id, secret };
}

/** The credentials of a Basic header, both form-encoded (RFC 6749 section 2.3.1); `formId` may repeat the client. */
function basicCredentials(header: string | undefined, formId: string): Credentials | Refused {
  const encoded = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(header ?? '')?.[1];
  const [, name = '', secret = ''] =
    /^([^:]+):(.+)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString('utf8')) ?? [];
  const id = decoded(name);
  if (id !== '' && formId !== '' && formId !== id) {
    return no(
      'invalid_request',
      'The parameter client_id names another client than the Authorization header.',
    );
  }
  if (id !== '') return { id, secret: decoded(secret), byHeader: true };
  const why = 'Send the header Authorization: Basic with client_id and client_secret.';
  return { ...no('invalid_client', why), byHeader: true };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

function judgeClient(
  given: Credentials,
  form: URLSearchParams,
  { client, demand }: SandboxSettings,
): Verdict {
  const byHeader = given.byHeader && { byHeader: given.byHeader };
  if (!isSame(given, client))
    return {
      ...no('invalid_client', 'The client is unknown or its secret is wrong.'),
      ...byHeader,
    };
  const lacking = (['audience', 'resource'] as const).find(
    (name) => demand[name] !== undefined && form.get(name) !== demand[name],
  );
  if (lacking !== undefined)
    return no('invalid_target', `The parameter ${lacking} is missing or names another API.`);
  return judgeScope(form.get('scope') ?? '', client);
}

function isSame(given: Credentials, client: Client): boolean {
  const idFits = same(given.id, client.id);
  const secretFits = same(given.secret, client.secret);
  return idFits && secretFits;
}

/** Grants all allowed scopes when none is requested; refuses a request for more instead of narrowing it. */
function judgeScope(asked: string, { scopes: granted }: Client): Verdict {
  if (asked === '') return { granted: true, scopes: granted };
  const words = asked.split(' ');
  const scopes = SCOPES.filter((scope) => words.includes(scope) && granted.includes(scope));
  if (new Set(words).size === scopes.length) return { granted: true, scopes };
  return no('invalid_scope', `The parameter scope must contain only: ${granted.join(' ')}.`);
}

function missing(name: string): Refused {
  return no('invalid_request', `The parameter ${name} is missing.`);
}

function no(error: TokenError, why: string): Refused {
  return { granted: false, error, why };
}

/** RFC 6749 section 5.2: a challenge belongs only in the answer to a client that used the Authorization header. */
function refusal({ error, why, byHeader }: Refused, realm: string, status: number): Reply {
  const body = JSON.stringify({ error, error_description: why });
  const isChallenged = byHeader && error === 'invalid_client';
  const headers = {
    ...jsonHeaders(),
    ...(isChallenged && { 'www-authenticate': `Basic realm="${realm}"` }),
  };
  return { kind: 'complete', status, body, headers };
}

function onlyPost(method: string): Reply {
  return failure(405, `The token endpoint supports POST only, not ${method}.`, {
    ...NO_STORE,
    allow: 'POST',
  });
}

function jsonHeaders(): Record<string, string> {
  return { ...NO_STORE, 'content-type': 'application/json; charset=utf-8' };
}

function same(given: string, known: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(known));
}
