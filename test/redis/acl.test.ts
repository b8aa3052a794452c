import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { COMMANDS as RIGHTS } from '../../src/redis/rights.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** Of BullMQ, those of the jobs that po-sync makes: without parents and priorities. */
const BULLMQ_SCRIPTS =
  /^(addStandardJob|moveToActive|moveToFinished|moveStalledJobsToWait|extendLocks?|releaseLock|updateData|moveJobFromActiveToWait|getCounts|getRanges)-\d+\.js$/;

async function textsIn(folder: string, wanted: (name: string) => boolean): Promise<string[]> {
  const names = await readdir(path.join(root, folder), { recursive: true });
  return Promise.all(
    names.filter(wanted).map((name) => readFile(path.join(root, folder, name), 'utf8')),
  );
}

function found(texts: readonly string[], pattern: RegExp): string[] {
  return texts.flatMap((text) =>
    [...text.matchAll(pattern)].map(([, name = '']) => name.toLowerCase()),
  );
}

/** Commands that are only the private server's, or of a service that may refuse them. */
const NOT_NEEDED = ['config'];
/** Commands of transactions and of a connection; ioredis sends them. */
const OF_THE_CLIENT = [
  'client|setname',
  'hello',
  'ping',
  'quit',
  'info',
  'bzpopmin',
  'evalsha',
  'eval',
  'exec',
  'multi',
  'select',
];

it('the documented rights of a user contain every command that po-sync sends, and no other', async () => {
  const page = await readFile(path.join(root, 'docs/operations/redis.md'), 'utf8');
  const line = /^user po-sync on .*$/m.exec(page)?.[0] ?? '';
  const allowed = line.split(' ').flatMap((word) => (word.startsWith('+') ? [word.slice(1)] : []));
  const isOurs = (name: string) =>
    !name.startsWith('sandbox') && !name.startsWith('redis/private-server');
  const own = await textsIn('src', (name) => /\.(ts|lua)$/.test(name) && isOurs(name));
  const bull = await textsIn('node_modules/bullmq/dist/cjs/scripts', (name) =>
    BULLMQ_SCRIPTS.test(name),
  );
  const calls = found(own, /(?:\bredis|\bclient|\ball|multi\(\)|^ +)\s*\.(\w+)\(/gm).filter(
    (name) => COMMANDS.has(name),
  );
  const inScripts = [
    ...found(own, /redis\.call\('(\w+)'/g),
    ...found(bull, /rcall\(\\?["'](\w+)/g),
  ];
  const used = new Set(
    [...calls, ...inScripts, ...OF_THE_CLIENT].filter((name) => !NOT_NEEDED.includes(name)),
  );
  expect(allowed.toSorted()).toEqual([...used].toSorted());
  const ofConnections = ['client|setname', 'hello', 'info', 'ping', 'quit', 'select'];
  expect([...RIGHTS]).toEqual(allowed.filter((name) => !ofConnections.includes(name)));
});

const COMMANDS = new Set(
  `del exists get getrange hdel hget hgetall hincrby hkeys hlen hmget hmset hscan hset hsetnx hvals incr incrby lindex llen
  lpush lrange lrem ltrim mget pexpire ping pttl quit rpush sadd scan scard sdiff set setbit getbit sismember smembers
  srem time xadd xrange xrevrange xtrim zadd zcard zcount zrange zrangebyscore zrem zremrangebyscore zscan zscore expire
  strlen getset append hexists lpop rpop spop zincrby zrank zmscore publish xlen xdel xread type unlink rename persist
  pexpireat brpop blpop getdel zpopmin smismember sunion sinter watch info`.split(/\s+/),
);
