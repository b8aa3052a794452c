import type { IncomingMessage } from 'node:http';
import { authenticate } from './authenticate.ts';
import { failure } from './envelope.ts';
import type { Parts } from './parts.ts';
import { createPurchaseOrder, listPurchaseOrders } from './purchase-orders.ts';
import type { Reply } from './reply.ts';
import type { Operation } from './sandbox-event.ts';
import { answerToken } from './token-endpoint.ts';

/** The prefix of every API address (spec part 9). */
export const API_PREFIX = '/api/v1';
const ORDERS = `${API_PREFIX}/purchase-orders`;

/** What an address serves: the API, the token endpoint, or both. */
export type Role = { api: boolean; auth: boolean };

/** Answers one call, whatever it is. Rejects only for bugs and failing disks. */
export async function answerCall(request: IncomingMessage, path: string, role: Role, parts: Parts): Promise<Reply> {
  if (!parts.allowed(request.socket.remoteAddress)) return failure(403, 'Calls from this address are not allowed.');
  if (request.headers.host === undefined && request.httpVersion !== '1.0') {
    return failure(400, 'The request parameters are invalid: the header Host is missing.');
  }
  if (role.auth && path === parts.settings.tokenPath) return answerToken(request, parts);
  if (role.auth && path === '/rehearsal' && parts.rehearsal) {
    return { kind: 'stream', status: 200, chunks: parts.rehearsal.text() };
  }
  if (role.api && path.startsWith(`${API_PREFIX}/`)) return answerApi(request, path, parts);
  return nothingAt(path);
}

/** Which of the specified operations a call means. */
export function operationOf(method: string | undefined, path: string, tokenPath: string): Operation {
  if (path === ORDERS) return method === 'POST' ? 'create' : method === 'GET' ? 'list' : 'other';
  return path === tokenPath ? 'token' : 'other';
}

async function answerApi(request: IncomingMessage, path: string, parts: Parts): Promise<Reply> {
  if (path === `${API_PREFIX}/openapi.json` && request.method === 'GET') return describeItself(parts);
  const caller = authenticate(request.headers.authorization, parts.tokens, parts.settings.environment);
  if (!caller.known) return caller.refusal;
  if (path !== ORDERS) return nothingAt(path);
  if (request.method === 'POST') return createPurchaseOrder(request, caller, parts);
  if (request.method === 'GET') return listPurchaseOrders(request, caller, parts);
  const method = String(request.method).slice(0, 20);
  return failure(405, `The method ${method} is not supported for this resource.`, { allow: 'GET, POST' });
}

async function describeItself(parts: Parts): Promise<Reply> {
  // Loaded only when asked for: building the document is most of what a start would cost.
  const { openApi } = await import('./openapi.ts');
  return { kind: 'whole', status: 200, body: JSON.stringify(openApi(parts.addresses(), parts.settings)) };
}

function nothingAt(path: string): Reply {
  return failure(404, `There is nothing at ${path.slice(0, 200)}.`);
}
