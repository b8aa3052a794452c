import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from './context.ts';
import { rehearse } from './faults/rehearse.ts';
import { failure, JSON_TYPE, type Reply } from './reply.ts';
import { type Call, readBody } from './request.ts';
import { type SandboxSettings, SCOPES, type Scope } from './sandbox-options.ts';

type Verdict = { granted: true; scopes: readonly Scope[] } | Refused;
/** `byHeader`: the client authenticated, or has to, with the Authorization header. */
type Refused = { granted: false; error: TokenError; why: string; byHeader?: boolean };
type TokenError =
  | 'invalid_request'
  | 'invalid_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'server_error';
type Credentials = { id: string; secret: string; byHeader: boolean };

const LARGEST_FORM = 16 * 1024;
/** RFC 6749 section 5.1: caches must store neither tokens nor refusals. */
const NO_STORE = { 'cache-control': 'no-store', pragma: 'no-cache' };

/** POST {auth_url}/oauth2/token: the client credentials grant (API part 5; RFC 6749 sections 4.4 and 5). */
export async function answerToken(call: Call, context: Context): Promise<Reply> {
  if (call.method !== 'POST')
    return failure(405, `The token endpoint supports POST only, not ${call.method}.`, {
      ...NO_STORE,
      allow: 'POST',
    });
  const body = await readBody(call.request, LARGEST_FORM);
  if (body === 'gone') return { kind: 'drop', how: 'close' };
  const verdict = judge(call.headers, body, context.settings);
  const work = () => pronounce(verdict, context);
  const plan = context.faults.plan?.({ on: 'token', order: '' });
  if (plan === undefined) return work();
  const revoke = () => pronounce(no('invalid_client', 'The client secret was revoked.'), context);
  return rehearse(plan, { work, revoke }, context.tasks);
}

/** The 500 of the token endpoint, for a call that failed with an unexpected error. */
export function tokenCrash(): Reply {
  const why = 'The service failed; the outcome of this request is unknown.';
  return json(500, { error: 'server_error', error_description: why });
}

/** RFC 6749 section 5.2: a challenge belongs only in the answer to a client that used the Authorization header. */
function pronounce(verdict: Verdict, { tokens, settings, emit }: Context): Reply {
  emit({ type: 'token', at: Date.now(), outcome: verdict.granted ? 'issued' : verdict.error });
  if (verdict.granted)
    return json(200, {
      access_token: tokens.issue(verdict.scopes),
      expires_in: settings.tokenLifetime,
      token_type: 'Bearer',
    });
  const { error, why, byHeader } = verdict;
  const isClient = error === 'invalid_client';
  return json(
    isClient ? 401 : 400,
    { error, error_description: why },
    isClient && byHeader ? { 'www-authenticate': `Basic realm="${settings.environment}"` } : {},
  );
}

function judge(
  headers: IncomingHttpHeaders,
  body: Buffer | 'too-large',
  settings: SandboxSettings,
): Verdict {
  if (body === 'too-large')
    return no('invalid_request', `The form must not be larger than ${LARGEST_FORM} bytes.`);
  if (!/^application\/x-www-form-urlencoded *(?:;.*)?$/i.test(headers['content-type'] ?? ''))
    return no(
      'invalid_request',
      'The header Content-Type must be application/x-www-form-urlencoded.',
    );
  const form = new URLSearchParams(body.toString('utf8'));
  const twice = [...form.keys()].find((name) => form.getAll(name).length > 1);
  if (twice !== undefined)
    return no('invalid_request', `The parameter ${twice.slice(0, 100)} is repeated.`);
  const grantType = form.get('grant_type') ?? '';
  if (grantType === '') return missing('grant_type');
  const given = credentialsIn(form, headers.authorization, settings.demand.clientAuth);
  if ('granted' in given) return given;
  if (grantType !== 'client_credentials')
    return no('unsupported_grant_type', 'The parameter grant_type must be client_credentials.');
  return judgeClient(given, form, settings);
}

/** The credentials of a request; those in the form count first, so that a foreign Authorization header does no harm. */
function credentialsIn(
  form: URLSearchParams,
  header: string | undefined,
  accepted: SandboxSettings['demand']['clientAuth'],
): Credentials | Refused {
  const [id, secret] = [form.get('client_id') ?? '', form.get('client_secret') ?? ''];
  const isBasic = accepted === undefined && secret === '' && /^Basic\b/i.test(header ?? '');
  if (accepted === 'basic' || isBasic) return basicCredentials(header);
  if (id === '' && secret === '' && header !== undefined)
    return no('invalid_client', 'Send client_id and client_secret in the form.', true);
  if (id === '') return missing('client_id');
  return secret === '' ? missing('client_secret') : { id, secret, byHeader: false };
}

/** The credentials of a Basic header, both form-encoded (RFC 6749 section 2.3.1). */
function basicCredentials(header: string | undefined): Credentials | Refused {
  const encoded = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(header ?? '')?.[1];
  const plain = Buffer.from(encoded ?? '', 'base64').toString('utf8');
  const [, id, secret] = /^([^:]+):(.+)$/s.exec(plain) ?? [];
  if (id !== undefined && secret !== undefined)
    return { id: decoded(id), secret: decoded(secret), byHeader: true };
  const why = 'Send the header Authorization: Basic with client_id and client_secret.';
  return no('invalid_client', why, true);
}

function decoded(text: string): string {
  return new URLSearchParams(`x=${text.replaceAll('&', '%26')}`).get('x') ?? '';
}

/** Grants all allowed scopes when none is requested; refuses a request for more instead of narrowing it. */
function judgeClient(
  { id, secret, byHeader }: Credentials,
  form: URLSearchParams,
  { client, demand }: SandboxSettings,
): Verdict {
  if (id !== client.id || secret !== client.secret)
    return no('invalid_client', 'The client is unknown or its secret is wrong.', byHeader);
  const lacking = (['audience', 'resource'] as const).find(
    (name) => demand[name] !== undefined && form.get(name) !== demand[name],
  );
  if (lacking !== undefined)
    return no('invalid_target', `The parameter ${lacking} is missing or names another API.`);
  const asked = form.get('scope') ?? '';
  if (asked === '') return { granted: true, scopes: client.scopes };
  const words = new Set(asked.split(' '));
  const scopes = SCOPES.filter((scope) => words.has(scope) && client.scopes.includes(scope));
  if (words.size === scopes.length) return { granted: true, scopes };
  return no('invalid_scope', `The parameter scope must contain only: ${client.scopes.join(' ')}.`);
}

function missing(name: string): Refused {
  return no('invalid_request', `The parameter ${name} is missing.`);
}

function no(error: TokenError, why: string, byHeader = false): Refused {
  return { granted: false, error, why, byHeader };
}

function json(
  status: number,
  value: object,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const body = JSON.stringify(value);
  return {
    kind: 'complete',
    status,
    body,
    headers: { ...NO_STORE, 'content-type': JSON_TYPE, ...headers },
  };
}
