import { failureText, type Reply } from '../reply.ts';
import type { Tasks } from './open-tasks.ts';
import type { Ending, Plan } from './plan-faults.ts';

/** The actions of a call with faults. */
export type Act = {
  /** Does the work and returns its answer; called at most once. */
  work: () => Reply | Promise<Reply>;
  /** Revokes the call's token and returns the refusal. */
  revoke: () => Reply;
};

/** Answers a call as planned: with its delays, its work if planned, and its ending. */
export function rehearse(plan: Plan, act: Act, tasks: Tasks): Promise<Reply> {
  return tasks.follow(perform(plan, act, tasks));
}

async function perform(plan: Plan, act: Act, tasks: Tasks): Promise<Reply> {
  if (plan.delayBefore > 0) await tasks.sleep(plan.delayBefore);
  const { ending } = plan;
  if (ending !== undefined && endsBefore(ending)) return end(ending, plan, act, tasks);
  const reply = await act.work();
  if (plan.delayAfter > 0) await tasks.sleep(plan.delayAfter);
  if (ending === undefined) return reply;
  return ending.kind === 'cut' ? cut(reply) : end(ending, plan, act, tasks);
}

function endsBefore(ending: Ending): boolean {
  switch (ending.kind) {
    case 'answer':
    case 'drop':
    case 'crash':
      return ending.when === 'before';
    case 'late':
    case 'revoke':
      return true;
    case 'cut':
      return false;
  }
}

function end(ending: Ending, plan: Plan, act: Act, tasks: Tasks): Reply {
  switch (ending.kind) {
    case 'answer':
      return answer(ending);
    case 'drop':
      return { kind: 'drop', how: ending.how };
    case 'late':
      tasks.later(plan.lateBy, act.work);
      return { kind: 'drop', how: ending.how };
    case 'revoke':
      return act.revoke();
    case 'crash':
      throw new Error('Rehearsed crash.');
    case 'cut':
      return { kind: 'drop', how: 'close' };
  }
}

function answer(fault: Extract<Ending, { kind: 'answer' }>): Reply {
  const { status, message = `Rehearsed status ${status}.` } = fault;
  const headers = retryAfter(fault);
  const body = (text: string, type: string): Reply => ({
    kind: 'complete',
    status,
    body: text,
    headers: { ...headers, 'content-type': type },
  });
  switch (fault.body) {
    case 'html':
      return body(`<!doctype html><title>${status}</title><h1>${status}</h1><p>The server failed.</p>`, 'text/html');
    case 'empty':
      return body('', 'application/json');
    case 'envelope':
      return body(failureText(fault.code ?? Math.max(status, 400), message), 'application/json; charset=utf-8');
  }
}

function retryAfter(fault: Extract<Ending, { kind: 'answer' }>): Record<string, string> {
  if (fault.retryAfter === undefined) return {};
  const date = new Date(Date.now() + fault.retryAfter).toUTCString();
  return { 'retry-after': fault.retryAfterForm === 'date' ? date : String(Math.ceil(fault.retryAfter / 1000)) };
}

async function cut(reply: Reply): Promise<Reply> {
  switch (reply.kind) {
    case 'complete':
      return { kind: 'cut', status: reply.status, body: reply.body };
    case 'stream':
      for await (const body of reply.chunks) return { kind: 'cut', status: reply.status, body };
      return { kind: 'cut', status: reply.status, body: '{' };
    case 'cut':
    case 'drop':
      return reply;
  }
}
