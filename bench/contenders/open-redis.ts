import { systemClock } from '../../src/core/clock.ts';
import { connectRedis, type Redis } from '../../src/redis/connect.ts';
import { openPrivateRedis } from '../../src/redis/private-server/private-server.ts';

export type OpenRedis = AsyncDisposable & { url: string; redis: Redis };

/** A Redis as po-sync runs its own: the same settings, durable at every write. `data`: where a daemon adopts it. */
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
