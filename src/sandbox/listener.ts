import type { RequestListener } from 'node:http';
import { toError } from '../core/errors.ts';
import { answerCall, operationOf, type Role } from './answer-call.ts';
import { type Call, callOf } from './call.ts';
import { failure } from './envelope.ts';
import type { Parts } from './parts.ts';
import { type Reply, sendReply } from './reply.ts';

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
