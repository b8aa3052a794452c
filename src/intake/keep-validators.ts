import type { ExportSource } from '../config/config.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { Validators } from './download.ts';
import type { WebExportDeps } from './web-export.ts';

/** What a server said of the version taken last, kept in Redis; of another address it counts for nothing. */
export function validatorsIn(
  { redis, keys }: { redis: Redis; keys: Keys },
  { name, path }: ExportSource,
): WebExportDeps['validators'] {
  const field = `${name}#validators`;
  return {
    async recall() {
      const text = await redis.hget(keys.exports, field);
      if (text === null) return undefined;
      const { address, ...validators } = JSON.parse(text) as Validators & { address: string };
      return address === path ? validators : undefined;
    },
    async keep(validators) {
      await redis.hset(keys.exports, field, JSON.stringify({ address: path, ...validators }));
    },
  };
}
