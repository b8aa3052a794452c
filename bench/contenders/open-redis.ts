import { systemClock } from '../../src/core/clock.ts';
import { connectRedis, type Redis } from '../../src/redis/connect.ts';
import { openPrivateRedis } from '../../src/redis/private-server/private-server.ts';

export type OpenRedis = AsyncDisposable & { url: string; redis: Redis };

/** A Redis with the settings of po-sync's private server, durable at every write. A daemon on `data` adopts it. */
export async function openRedis(data: string): Promise<OpenRedis> {
  const server = await openPrivateRedis({ data, clock: systemClock });
  const redis = await connectRedis(server.url);
  return {
    url: server.url,
    redis,
    async [Symbol.asyncDispose]() {
      redis.disconnect();
      await server[Symbol.asyncDispose]();
    },
  };
}
