import type { RequestListener, ServerResponse } from 'node:http';
import { toError } from '../errors.ts';
import { answerCall, operationOf, type Role } from './answer-call.ts';
import { type Call, callOf } from './call.ts';
import { failure } from './envelope.ts';
import type { Parts } from './parts.ts';
import { type Reply, sendReply } from './reply.ts';

/** Takes the calls of one address: answers each with something, also when answering it breaks. */
export function listener(role: Role, parts: Parts): RequestListener {
  return (request, response) => {
    void serve(callOf(request), response, role, parts);
  };
}

async function serve(call: Call, response: ServerResponse, role: Role, parts: Parts): Promise<void> {
  const begun = parts.tell === undefined ? 0 : performance.now();
  let reply: Reply;
  try {
    reply = await answerCall(call, role, parts);
  } catch (thrown) {
    parts.tell?.({ type: 'crashed', at: Date.now(), error: toError(thrown) });
    reply = failure(500, 'The service failed; nothing is known of this request.');
  }
  if (parts.tell !== undefined) tellAnswered(reply, call, performance.now() - begun, parts);
  sendReply(response, reply, (error) => parts.tell?.({ type: 'crashed', at: Date.now(), error }));
}

function tellAnswered(reply: Reply, { method, path }: Call, durationMs: number, { tell, settings }: Parts): void {
  const on = operationOf(method, path, settings.tokenPath);
  const status = reply.kind === 'drop' ? 0 : reply.status;
  tell?.({ type: 'answered', at: Date.now(), durationMs, on, method, path, status });
}
