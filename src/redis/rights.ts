import { PoSyncError } from '../core/errors.ts';
import type { Redis } from './connect.ts';
import { RIGHTS_REMEDY } from './connection-end.ts';

/**
 * The commands on data that po-sync and BullMQ send or run in scripts. Those of a connection are not among them: where one
 * is forbidden, connecting fails.
 */
export const COMMANDS: readonly string[] =
  `bzpopmin del eval evalsha exec exists expire get getbit getrange hdel hexists hget
hgetall hincrby hkeys hlen hmget hmset hscan hset hsetnx hvals incr incrby lindex llen lpush lrange lrem ltrim mget multi
persist pexpire pttl rpop rpoplpush rpush sadd scan scard sdiff set setbit smembers srem time xadd xrange xrevrange xtrim
zadd zcard zcount zpopmin zrange zrangebyscore zrem zremrangebyrank zremrangebyscore zrevrange zrevrangebyscore zscan
zscore`.split(/\s+/);

/**
 * Redis before version 7 cannot report it. Every argument is the key; only scripts have their number of keys second.
 */
const MISSING = `local missing = {}
if not redis.acl_check_cmd then return missing end
local key = KEYS[1]
for _, name in ipairs(ARGV) do
  local isScript = name == 'eval' or name == 'evalsha'
  local known, allowed = pcall(redis.acl_check_cmd, name, key, isScript and '1' or key, key)
  if known and not allowed then missing[#missing + 1] = name end
end
return missing`;

/** The commands that the user may not run on this key. None where Redis does not show it. */
export async function missingRights(redis: Redis, key: string): Promise<string[]> {
  const answer = await redis.eval(MISSING, 1, key, ...COMMANDS);
  return Array.isArray(answer) ? answer.map(String) : [];
}

/**
 * Throws PoSyncError `redis-refused` when the user may not run each command: Redis would end scripts between two of their
 * writes.
 */
export async function requireRights(redis: Redis, key: string): Promise<void> {
  const missing = await missingRights(redis, key);
  if (missing.length === 0) return;
  throw new PoSyncError(
    'redis-refused',
    `The user of Redis may not run ${missing.join(', ').toUpperCase()} on ${key}.`,
    {
      remedy: RIGHTS_REMEDY,
      facts: { missing: missing.join(' ') },
    },
  );
}
