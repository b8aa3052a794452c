import { isLoopback } from '../address.ts';
import type { Finding } from '../problem.ts';
import type { Readable } from '../readable.ts';
import { redisUrl } from '../schema.ts';
import { ADMIN_TOKEN, REDIS_URL, type Variables, variable } from '../variables.ts';
import type { Rule } from './ruling.ts';

/** What others can reach or read: the admin port, and the way to Redis. */
export const exposureRule: Rule = ({ admin, redis }, { env }) => {
  return { problems: openAdmin(admin, env), warnings: redisDoubts(redis, env) };
};

function openAdmin(admin: Readable['admin'], env: Variables): Finding[] {
  if (admin === undefined || isLoopback(admin.host)) return [];
  if ([ADMIN_TOKEN, `${ADMIN_TOKEN}_FILE`].some((name) => variable(env, name) !== undefined)) return [];
  const message = `${admin.host} can be reached from other machines and needs a token`;
  return [{ path: ['admin', 'host'], message, hint: `set ${ADMIN_TOKEN}, or use 127.0.0.1` }];
}

function redisDoubts(redis: Readable['redis'], env: Variables): Finding[] {
  const given = variable(env, REDIS_URL);
  if (given !== undefined) return redisUrl.safeParse(given).success ? unencrypted(given, REDIS_URL) : [];
  if (redis?.url === undefined) return [];
  const path = ['redis', 'url'];
  const hint = `give the address by ${REDIS_URL} instead`;
  const open: Finding[] = new URL(redis.url).password === '' ? [] : [{ path, message: 'holds a password', hint }];
  return [...open, ...unencrypted(redis.url, path)];
}

function unencrypted(address: string, path: Finding['path']): Finding[] {
  const { protocol, hostname } = new URL(address);
  if (protocol !== 'redis:' || isLoopback(hostname)) return [];
  const message = 'goes over the network unencrypted, with the orders and the password';
  return [{ path, message, hint: 'use rediss://' }];
}
