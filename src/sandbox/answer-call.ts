import type { RequestListener } from 'node:http';
import { toError } from '../core/errors.ts';
import { authenticate } from './authenticate.ts';
import type { Parts } from './parts.ts';
import { createPurchaseOrder, listPurchaseOrders } from './purchase-orders.ts';
import { REHEARSAL_PATH } from './rehearsal.ts';
import { failure, type Reply, sendReply } from './reply.ts';
import { type Call, callOf } from './request.ts';
import type { Operation } from './sandbox-options.ts';
import { answerToken } from './token-endpoint.ts';

/** Takes the calls of one address: answers each with something, also when answering it breaks. */
export function listener(role: Role, parts: Parts): RequestListener {
  return (request, response) => {
    const begun = parts.tell === undefined ? 0 : performance.now();
    const call = callOf(request);
    const send = (reply: Reply) => {
      if (parts.tell !== undefined) tellAnswered(reply, call, performance.now() - begun, parts);
      sendReply(response, reply, parts.crashed);
    };
    const crash = (thrown: unknown) => {
      parts.crashed(toError(thrown));
      send(failure(500, 'The service failed; nothing is known of this request.'));
    };
    try {
      // Never at once: a request that turns out not to be HTTP is refused as that, and by one answer.
      Promise.resolve(answerCall(call, role, parts)).then(send, crash);
    } catch (thrown) {
      crash(thrown);
    }
  };
}

function tellAnswered(reply: Reply, { method, path }: Call, durationMs: number, { tell, settings }: Parts): void {
  const on = operationOf(method, path, settings.tokenPath);
  const status = reply.kind === 'drop' ? 0 : reply.status;
  tell?.({ type: 'answered', at: Date.now(), durationMs, on, method, path, status });
}

/** The prefix of every API address (spec part 9). */
export const API_PREFIX = '/api/v1';
const ORDERS = `${API_PREFIX}/purchase-orders`;

/** What an address serves: the API, the token endpoint, or both. */
export type Role = { api: boolean; auth: boolean };

/** Answers one call, whatever it is. Rejects only for bugs and failing disks. */
export function answerCall(call: Call, role: Role, parts: Parts): Reply | Promise<Reply> {
  const { path, headers, request } = call;
  if (!parts.allowed(request.socket)) return failure(403, 'Calls from this address are not allowed.');
  if (headers.host === undefined && request.httpVersion !== '1.0') {
    return failure(400, 'The request parameters are invalid: the header Host is missing.');
  }
  if (role.auth && path === parts.settings.tokenPath) return answerToken(call, parts);
  if (role.auth && path === REHEARSAL_PATH && parts.rehearsal) {
    if (call.method !== 'GET') return notSupported(call.method, 'GET');
    return { kind: 'stream', status: 200, chunks: parts.rehearsal.text() };
  }
  if (role.api && path.startsWith(`${API_PREFIX}/`)) return answerApi(call, parts);
  return nothingAt(path);
}

/** Which of the specified operations a call means. */
export function operationOf(method: string, path: string, tokenPath: string): Operation {
  if (path === ORDERS) return method === 'POST' ? 'create' : method === 'GET' ? 'list' : 'other';
  return path === tokenPath ? 'token' : 'other';
}

function answerApi(call: Call, parts: Parts): Reply | Promise<Reply> {
  const { method, path, headers } = call;
  if (path === `${API_PREFIX}/openapi.json` && method === 'GET') return describeItself(parts);
  const caller = authenticate(headers.authorization, parts.tokens, parts.settings.environment);
  if (!caller.known) return caller.refusal;
  if (path !== ORDERS) return nothingAt(path);
  if (method === 'POST') return createPurchaseOrder(call, caller, parts);
  if (method === 'GET') return listPurchaseOrders(call, caller, parts);
  return notSupported(method, 'GET, POST');
}

function notSupported(method: string, allow: string): Reply {
  return failure(405, `The method ${method} is not supported for this resource.`, { allow });
}

async function describeItself(parts: Parts): Promise<Reply> {
  // Loaded only when asked for: building the document is most of what a start would cost.
  const { openApi } = await import('./openapi.ts');
  return { kind: 'whole', status: 200, body: JSON.stringify(openApi(parts.addresses(), parts.settings)) };
}

function nothingAt(path: string): Reply {
  return failure(404, `There is nothing at ${path.slice(0, 200)}.`);
}
