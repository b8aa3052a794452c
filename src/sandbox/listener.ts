import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { toError } from '../errors.ts';
import { answerCall, operationOf, type Role } from './answer-call.ts';
import { failure } from './envelope.ts';
import type { Parts } from './parts.ts';
import { type Reply, sendReply } from './reply.ts';

/** Takes the calls of one address: answers each with something, also when answering it breaks. */
export function listener(role: Role, parts: Parts): RequestListener {
  return (request, response) => {
    // Errors of the connection show as a close; nobody is left to be told.
    response.on('error', () => undefined);
    void serve(request, response, role, parts);
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, role: Role, parts: Parts): Promise<void> {
  const begun = parts.tell === undefined ? 0 : performance.now();
  const path = pathOf(request.url ?? '');
  try {
    const reply = await answerCall(request, path, role, parts);
    tellAnswered(reply, request, path, begun, parts);
    await sendReply(response, reply);
  } catch (thrown) {
    parts.tell?.({ type: 'crashed', at: Date.now(), error: toError(thrown) });
    const reply = failure(500, 'The service failed; nothing is known of this request.');
    tellAnswered(reply, request, path, begun, parts);
    if (response.headersSent) response.destroy();
    else await sendReply(response, reply);
  }
}

function tellAnswered(reply: Reply, request: IncomingMessage, path: string, begun: number, parts: Parts): void {
  if (parts.tell === undefined) return;
  const { method = '' } = request;
  parts.tell({
    type: 'answered',
    at: Date.now(),
    durationMs: performance.now() - begun,
    on: operationOf(method, path, parts.settings.tokenPath),
    method,
    path,
    status: reply.kind === 'drop' ? 0 : reply.status,
  });
}

/** The path of a request target in origin or absolute form (RFC 9112 part 3.2), without its query. */
function pathOf(target: string): string {
  const origin = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '');
  const query = origin.indexOf('?');
  return query < 0 ? origin : origin.slice(0, query);
}
