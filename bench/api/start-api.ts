import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { OrderFile } from '../order-file.ts';
import type { ApiOrder, ApiSeen } from './api-messages.ts';

const PROGRAM = path.join(import.meta.dirname, 'api.program.ts');

/** In milliseconds; far more than the slowest contender takes on a busy machine. */
const PATIENCE = 120_000;
const PATIENCE_PER_ORDER = 10;

/** The API that all contenders post to, in a separate process. */
export type Api = AsyncDisposable & {
  origin: string;
  /** Runs `work`, which delivers `file`; throws unless the API received each order exactly once before the timeout. */
  judge<T>(
    file: OrderFile,
    latency: number,
    work: () => Promise<T>,
  ): Promise<{ result: T; seen: ApiSeen }>;
  /** Resets the counters. */
  begin(latency: number, expected: number): Promise<void>;
  /** Changes the latency. */
  slow(latency: number): Promise<void>;
  /** What it received since the last reset. */
  seen(): Promise<ApiSeen>;
  /** Resolves when the expected number of posts was answered. */
  reached(): Promise<void>;
};

export async function startApi(): Promise<Api> {
  const child = fork(PROGRAM);
  const [address] = await once(child, 'message');
  let reached = Promise.withResolvers<void>();
  child.on('message', (message) => {
    if (message === 'reached') reached.resolve();
  });

  async function begin(latency: number, expected: number): Promise<void> {
    reached = Promise.withResolvers();
    await ask(child, { kind: 'begin', latency, expected });
  }

  async function slow(latency: number): Promise<void> {
    await ask(child, { kind: 'slow', latency });
  }

  const seen = () => ask(child, { kind: 'tell' });
  return {
    origin: `http://127.0.0.1:${(address as { port: number }).port}`,
    begin,
    slow,
    seen,
    reached: () => reached.promise,
    async judge(file, latency, work) {
      await begin(latency, file.orders);
      const result = await inTime(work(), PATIENCE + file.orders * PATIENCE_PER_ORDER);
      const told = await seen();
      if (told.orders !== file.orders || told.posts !== file.orders) {
        throw new Error(
          `${file.orders} orders in the file, but the API received ${told.orders} in ${told.posts} posts`,
        );
      }
      return { result, seen: told };
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function inTime<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`not finished after ${milliseconds / 1000} s`)),
    milliseconds,
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function ask(child: ChildProcess, order: ApiOrder): Promise<ApiSeen> {
  return new Promise((resolve) => {
    const hear = (message: unknown) => {
      if (typeof message !== 'object') return;
      child.off('message', hear);
      resolve(message as ApiSeen);
    };
    child.on('message', hear);
    child.send(order);
  });
}
