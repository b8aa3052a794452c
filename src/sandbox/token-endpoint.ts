import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context } from './context.ts';
import { rehearse } from './faults/rehearse.ts';
import { failure, type Reply } from './reply.ts';
import { type Body, type Call, type CallHeaders, readBody } from './request.ts';
import { type SandboxSettings, SCOPES, type Scope } from './sandbox-options.ts';

type Verdict = { granted: true; scopes: readonly Scope[] } | Refused;
/** `byHeader`: the client tried to authenticate with the Authorization header. */
type Refused = { granted: false; error: TokenError; why: string; byHeader?: true };
type TokenError = 'invalid_request' | 'invalid_client' | 'unsupported_grant_type' | 'invalid_scope';

const LARGEST_FORM = 16 * 1024;
/** RFC 6749 section 5.1: caches must store neither tokens nor refusals. */
const NO_STORE = { 'cache-control': 'no-store', pragma: 'no-cache' };

/** POST {auth_url}/oauth2/token: the client credentials grant (API part 5; RFC 6749 sections 4.4 and 5). */
export async function answerToken(call: Call, context: Context): Promise<Reply> {
  if (call.method !== 'POST') return notAllowed(call.method);
  const body = await new Promise<Body>((resolve) => readBody(call.request, LARGEST_FORM, resolve));
  if (body === 'gone') return { kind: 'drop', how: 'close' };
  const verdict = judge(call.headers, body, context.settings);
  const work = () => pronounce(verdict, context);
  const plan = context.plan?.({ on: 'token', order: '' });
  if (plan === undefined) return work();
  return rehearse(plan, { work, revoke: () => ({ kind: 'drop', how: 'close' }) }, context.tasks);
}

function pronounce(verdict: Verdict, { tokens, settings, emit }: Context): Reply {
  emit?.({ type: 'token', at: Date.now(), outcome: verdict.granted ? 'issued' : verdict.error });
  if (!verdict.granted) return refusal(verdict, settings.environment);
  const token = {
    access_token: tokens.issue(verdict.scopes),
    expires_in: settings.tokenLifetime,
    token_type: 'Bearer',
  };
  return { kind: 'complete', status: 200, body: JSON.stringify(token), headers: jsonHeaders() };
}

function judge(headers: CallHeaders, body: Buffer | 'too-large', settings: SandboxSettings): Verdict {
  if (body === 'too-large') return no('invalid_request', `The form must not be larger than ${LARGEST_FORM} bytes.`);
  if (!/^application\/x-www-form-urlencoded *(?:;.*)?$/i.test(headers.contentType ?? '')) {
    return no('invalid_request', 'The header Content-Type must be application/x-www-form-urlencoded.');
  }
  const form = new URLSearchParams(body.toString('utf8'));
  const twice = [...new Set(form.keys())].find((name) => form.getAll(name).length > 1);
  if (twice !== undefined) return no('invalid_request', `The parameter ${twice.slice(0, 100)} is repeated.`);
  if (headers.authorization !== undefined && !form.has('client_id') && !form.has('client_secret')) {
    return { ...no('invalid_client', 'Send client_id and client_secret in the form.'), byHeader: true };
  }
  return judgeForm((name) => form.get(name) ?? '', settings);
}

function judgeForm(field: (name: string) => string, settings: SandboxSettings): Verdict {
  const missing = ['grant_type', 'client_id', 'client_secret'].find((name) => field(name) === '');
  if (missing !== undefined) return no('invalid_request', `The parameter ${missing} is missing.`);
  if (field('grant_type') !== 'client_credentials') {
    return no('unsupported_grant_type', 'The parameter grant_type must be client_credentials.');
  }
  // Always compare both, so that timing reveals nothing.
  const idFits = same(field('client_id'), settings.clientId);
  const secretFits = same(field('client_secret'), settings.clientSecret);
  if (!(idFits && secretFits)) return no('invalid_client', 'The client is unknown or its secret is wrong.');
  return judgeScope(field('scope'), settings.scopes);
}

/** Grants all allowed scopes when none is requested; refuses a request for more instead of narrowing it. */
function judgeScope(asked: string, granted: readonly Scope[]): Verdict {
  if (asked === '') return { granted: true, scopes: granted };
  const words = asked.split(' ');
  const scopes = SCOPES.filter((scope) => words.includes(scope) && granted.includes(scope));
  if (new Set(words).size === scopes.length) return { granted: true, scopes };
  return no('invalid_scope', `The parameter scope must contain only: ${granted.join(' ')}.`);
}

function no(error: TokenError, why: string): Refused {
  return { granted: false, error, why };
}

/** RFC 6749 section 5.2: a challenge belongs only in the answer to a client that used the Authorization header. */
function refusal({ error, why, byHeader }: Refused, realm: string): Reply {
  const body = JSON.stringify({ error, error_description: why });
  if (error !== 'invalid_client') return { kind: 'complete', status: 400, body, headers: jsonHeaders() };
  const headers = { ...jsonHeaders(), ...(byHeader && { 'www-authenticate': `Basic realm="${realm}"` }) };
  return { kind: 'complete', status: 401, body, headers };
}

function notAllowed(method: string): Reply {
  return failure(405, `The token endpoint supports POST only, not ${method}.`, { ...NO_STORE, allow: 'POST' });
}

function jsonHeaders(): Record<string, string> {
  return { ...NO_STORE, 'content-type': 'application/json; charset=utf-8' };
}

function same(given: string, known: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(known));
}
