import type { RequestListener } from 'node:http';
import { toError } from '../core/errors.ts';
import type { Context } from './context.ts';
import { createPurchaseOrder, listPurchaseOrders } from './purchase-orders.ts';
import { failure, type Reply, sendReply } from './reply.ts';
import { type Call, callOf, isReading, notAllowed, refuseWithoutDemanded } from './request.ts';
import { type Operation, TOKEN_PATHS } from './sandbox-options.ts';
import { answerToken, tokenCrash } from './token-endpoint.ts';
import { authenticate } from './token-store.ts';

/** Answers every call to one address; a call that fails with an unexpected error gets a 500. */
export function listener(role: Role, context: Context): RequestListener {
  return (request, response) => {
    const begun = performance.now();
    const call = callOf(request);
    const isOfRecord = call.path === RECORD_PATH;
    const recorded = isOfRecord ? undefined : context.exchanges?.begin(request);
    const broken = (error: Error) => context.emit({ type: 'crashed', at: Date.now(), error });
    const send = (reply: Reply) => {
      observe(reply, call, performance.now() - begun, context);
      sendReply(response, recorded?.(reply) ?? reply, broken);
    };
    const crash = (thrown: unknown) => {
      broken(toError(thrown));
      const isToken = role.auth && call.path === context.settings.tokenPath;
      send(
        isToken
          ? tokenCrash()
          : failure(500, 'The service failed; the outcome of this request is unknown.'),
      );
    };
    // Never synchronous: a request that turns out to be invalid HTTP must get that one refusal only.
    void answerCall(call, role, context).then(send, crash);
  };
}

function observe(
  reply: Reply,
  { method, path }: Call,
  durationMs: number,
  { settings, redact, emit }: Context,
): void {
  const status = reply.kind === 'drop' ? 0 : reply.status;
  const on = operationOf(method, path, settings.tokenPath);
  const [shown, reason] = [redact(path), redact(reasonOf(reply))];
  emit({ type: 'answered', at: Date.now(), durationMs, on, method, path: shown, status, reason });
}

/** The reason in the body of a failed call, for the log. */
function reasonOf(reply: Reply): string {
  if (reply.kind !== 'complete' || reply.status < 400) return '';
  const found = /"(?:message|error_description)":("(?:[^"\\]|\\.)*")/.exec(reply.body)?.[1];
  return found === undefined ? '' : String(JSON.parse(found));
}

/** The prefix of every API address (API part 9). */
export const API_PREFIX = '/api/v1';
const ORDERS = `${API_PREFIX}/purchase-orders`;

/** Which endpoints an address serves: the API, the token endpoint, or both. */
export type Role = { api: boolean; auth: boolean };

/** Answers one call. Rejects only on bugs and disk failures. */
async function answerCall(call: Call, role: Role, context: Context): Promise<Reply> {
  const { method, path, request } = call;
  if (!context.allowed(request.socket))
    return failure(403, 'Calls from this address are not allowed.');
  const read = readableAt(path, role, context);
  if (read !== undefined)
    return isReading(method) ? json(await read()) : notAllowed(method, 'GET, HEAD');
  if (role.auth && path === context.settings.tokenPath) return answerToken(call, context);
  if (role.api && path.startsWith(`${API_PREFIX}/`)) return answerApi(call, context);
  const isOtherTokenPath = role.auth && TOKEN_PATHS.some((one) => one === path);
  if (isOtherTokenPath)
    return nothingAt(path, ` The token path of this environment is ${context.settings.tokenPath}.`);
  return nothingAt(
    path,
    role.api ? ` The addresses of the API begin with ${API_PREFIX}.` : ' This is the auth address.',
  );
}

/** The last calls, on the auth address of a sandbox that records them. */
const RECORD_PATH = '/rehearsal';

/** What can be read beside the API, without a token. */
function readableAt(path: string, { auth }: Role, context: Context) {
  const { exchanges, settings, addresses } = context;
  if (path === '/healthz') return () => ({ status: 'ok' });
  if (path === '/openapi.json')
    // Loaded on demand: building the document would dominate the startup time.
    return async () => (await import('./openapi.ts')).openApi(addresses(), settings);
  if (path !== RECORD_PATH || !auth || exchanges === undefined) return undefined;
  return () => ({ environment: settings.environment, exchanges: exchanges.last() });
}

function json(value: object): Reply {
  return { kind: 'complete', status: 200, body: JSON.stringify(value) };
}

/** The specified operation that a call requests. */
function operationOf(method: string, path: string, tokenPath: string): Operation {
  if (path === ORDERS) return method === 'POST' ? 'create' : method === 'GET' ? 'list' : 'other';
  return path === tokenPath ? 'token' : 'other';
}

function answerApi(call: Call, context: Context): Reply | Promise<Reply> {
  const { method, path, headers } = call;
  const refusal = refuseWithoutDemanded(headers, context.settings.demand.headers);
  if (refusal !== undefined) return refusal;
  const caller = authenticate(headers.authorization, context.tokens, context.settings.environment);
  if (!caller.known) return caller.refusal;
  if (path !== ORDERS) return nothingAt(path, ` The API has ${ORDERS} only.`);
  if (method === 'POST') return createPurchaseOrder(call, caller, context);
  if (isReading(method)) return listPurchaseOrders(call, caller, context);
  return notAllowed(method, 'GET, HEAD, POST');
}

function nothingAt(path: string, hint = ''): Reply {
  return failure(404, `Path ${path.slice(0, 200)} not found.${hint}`);
}
