import type { RequestListener } from 'node:http';
import { toError } from '../core/errors.ts';
import { authenticate } from './authenticate.ts';
import type { Context } from './context.ts';
import { createPurchaseOrder, listPurchaseOrders } from './purchase-orders.ts';
import { REHEARSAL_PATH } from './rehearsal.ts';
import { failure, type Reply, sendReply } from './reply.ts';
import { type Call, callOf } from './request.ts';
import type { Operation } from './sandbox-options.ts';
import { answerToken } from './token-endpoint.ts';

/** Answers every call to one address; a call that fails with an unexpected error gets a 500. */
export function listener(role: Role, context: Context): RequestListener {
  return (request, response) => {
    const isObserved = context.emit !== undefined || context.onCall !== undefined;
    const begun = isObserved ? performance.now() : 0;
    const call = callOf(request);
    const send = (reply: Reply) => {
      if (isObserved) observe(reply, call, performance.now() - begun, context);
      sendReply(response, reply, context.crashed);
    };
    const crash = (thrown: unknown) => {
      context.crashed(toError(thrown));
      send(failure(500, 'The service failed; the outcome of this request is unknown.'));
    };
    try {
      // Never synchronous: a request that turns out to be invalid HTTP must get that one refusal only.
      Promise.resolve(answerCall(call, role, context)).then(send, crash);
    } catch (thrown) {
      crash(thrown);
    }
  };
}

function observe(reply: Reply, { method, path }: Call, durationMs: number, context: Context): void {
  const status = reply.kind === 'drop' ? 0 : reply.status;
  context.onCall?.({ method, path, status, durationMs, reason: reasonOf(reply) });
  const on = operationOf(method, path, context.settings.tokenPath);
  context.emit?.({ type: 'answered', at: Date.now(), durationMs, on, method, path, status });
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
function answerCall(call: Call, role: Role, context: Context): Reply | Promise<Reply> {
  const { path, headers, request } = call;
  if (!context.allowed(request.socket)) return failure(403, 'Calls from this address are not allowed.');
  if (headers.host === undefined && request.httpVersion !== '1.0') {
    return failure(400, 'The request parameters are invalid: the header Host is missing.');
  }
  if (path === '/healthz') return { kind: 'complete', status: 200, body: '{"status":"ok"}' };
  if (path === '/openapi.json' && call.method === 'GET') return describeItself(context);
  if (role.auth && path === context.settings.tokenPath) return answerToken(call, context);
  if (role.auth && path === REHEARSAL_PATH && context.rehearsal) {
    if (call.method !== 'GET') return notSupported(call.method, 'GET');
    return { kind: 'stream', status: 200, chunks: context.rehearsal.text() };
  }
  if (role.api && path.startsWith(`${API_PREFIX}/`)) return answerApi(call, context);
  return nothingAt(path);
}

/** The specified operation that a call requests. */
function operationOf(method: string, path: string, tokenPath: string): Operation {
  if (path === ORDERS) return method === 'POST' ? 'create' : method === 'GET' ? 'list' : 'other';
  return path === tokenPath ? 'token' : 'other';
}

function answerApi(call: Call, context: Context): Reply | Promise<Reply> {
  const { method, path, headers } = call;
  const caller = authenticate(headers.authorization, context.tokens, context.settings.environment);
  if (!caller.known) return caller.refusal;
  if (path !== ORDERS) return nothingAt(path);
  if (method === 'POST') return createPurchaseOrder(call, caller, context);
  if (method === 'GET') return listPurchaseOrders(call, caller, context);
  return notSupported(method, 'GET, POST');
}

function notSupported(method: string, allow: string): Reply {
  return failure(405, `The method ${method} is not supported for this resource.`, { allow });
}

async function describeItself(context: Context): Promise<Reply> {
  // Loaded on demand: building the document would dominate the startup time.
  const { openApi } = await import('./openapi.ts');
  return { kind: 'complete', status: 200, body: JSON.stringify(openApi(context.addresses(), context.settings)) };
}

function nothingAt(path: string): Reply {
  return failure(404, `Path ${path.slice(0, 200)} not found.`);
}
