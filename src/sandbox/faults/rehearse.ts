import { failureText, JSON_TYPE, type Reply } from '../reply.ts';
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
      return answer(ending, plan.on);
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

function answer(fault: Extract<Ending, { kind: 'answer' }>, on: Plan['on']): Reply {
  const { status, message = `Rehearsed status ${status}.` } = fault;
  const reply = (body: string, type: string): Reply => ({
    kind: 'complete',
    status,
    body,
    headers: { 'content-type': type, ...retryAfter(fault), ...lowerCased(fault.headers) },
  });
  if (fault.text !== undefined) return reply(fault.text, 'text/plain; charset=utf-8');
  switch (fault.body ?? (on === 'token' ? 'oauth' : 'envelope')) {
    case 'html':
      return reply(
        `<!doctype html><title>${status}</title><h1>${status}</h1><p>The server failed.</p>`,
        'text/html',
      );
    case 'empty':
      return reply('', 'application/json');
    case 'oauth':
      return reply(
        JSON.stringify({ error: fault.error ?? oauthError(status), error_description: message }),
        JSON_TYPE,
      );
    case 'envelope':
      return reply(failureText(fault.code ?? Math.max(status, 400), message), JSON_TYPE);
  }
}

/** The `error` that fits a status (RFC 6749 sections 4.1.2.1 and 5.2). */
function oauthError(status: number): string {
  if (status === 401) return 'invalid_client';
  if (status === 429 || status === 503) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
}

function lowerCased(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

function retryAfter(fault: Extract<Ending, { kind: 'answer' }>): Record<string, string> {
  if (fault.retryAfter === undefined) return {};
  const date = new Date(Date.now() + fault.retryAfter).toUTCString();
  return {
    'retry-after':
      fault.retryAfterForm === 'date' ? date : String(Math.ceil(fault.retryAfter / 1000)),
  };
}

function cut(reply: Reply): Reply {
  switch (reply.kind) {
    case 'complete':
      return { kind: 'cut', status: reply.status, body: reply.body };
    case 'stream':
      for (const body of reply.chunks) return { kind: 'cut', status: reply.status, body };
      return { kind: 'cut', status: reply.status, body: '{' };
    case 'cut':
    case 'drop':
      return reply;
  }
}

/** Work in a sandbox that is delayed or outlives its call. */
export type Tasks = {
  /** Runs a task after `ms` and ignores its failure, because its caller has already gone. */
  later(ms: number, task: () => unknown): void;
  /** Resolves after `ms`. */
  sleep(ms: number): Promise<void>;
  /** Makes disposal wait for a call that may sleep. */
  follow<T>(call: Promise<T>): Promise<T>;
  /** Wakes all sleepers, runs all pending tasks, and resolves when they have ended. */
  [Symbol.asyncDispose](): Promise<void>;
};

/** Opens an empty set of tasks. */
export function openTasks(): Tasks {
  const waiting = new Map<() => unknown, NodeJS.Timeout>();
  const running = new Set<Promise<unknown>>();

  function run(task: () => unknown): void {
    clearTimeout(waiting.get(task));
    waiting.delete(task);
    void follow((async () => task())());
  }

  function follow<T>(call: Promise<T>): Promise<T> {
    const forget = () => void running.delete(done);
    const done: Promise<void> = call.then(forget, forget);
    running.add(done);
    return call;
  }

  function later(ms: number, task: () => unknown): void {
    waiting.set(task, setTimeout(run, ms, task));
  }

  return {
    later,
    follow,
    sleep: (ms) => new Promise((resolve) => later(ms, resolve)),
    async [Symbol.asyncDispose]() {
      while (waiting.size + running.size > 0) {
        for (const task of waiting.keys()) run(task);
        await Promise.all(running);
      }
    },
  };
}
