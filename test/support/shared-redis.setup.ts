import type { TestProject } from 'vitest/node';
import { startTestRedis } from './test-redis.ts';

declare module 'vitest' {
  interface ProvidedContext {
    redis: { port: number };
  }
}

/** One Redis for all tests of a suite, removed when the last has ended. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const redis = await startTestRedis({ databases: 10_000 });
  project.provide('redis', { port: redis.port });
  return async () => await redis[Symbol.asyncDispose]();
}
