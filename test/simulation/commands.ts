import { runOn, SCRIPTS, textOf } from './scripts.ts';
import type { Store } from './store.ts';
import type { Breach } from './weather.ts';

/** A command with its arguments as ioredis takes them, and the answer that ioredis gives. */
export type Command = (store: Store, args: readonly string[]) => unknown;

/** The place of the circuit breaker among the keys of `commit.lua`. */
const BREAKER = 7;

/** The commands of Redis that delivery uses, by name. Where a pause is unnoticed, an intent is committed all the same. */
export function commandTable(breach?: Breach): Readonly<Record<string, Command>> {
  const commands = { ...TEXTS, ...HASHES, ...SORTED, ...OTHERS };
  const commit = SCRIPTS.get('ledger/commit.lua')?.sha;
  const run = (
    store: Store,
    text: string,
    count: string,
    rest: readonly string[],
    blind = false,
  ) => {
    const keys = rest.slice(0, Number(count));
    const seen = blind ? keys.with(BREAKER, '') : keys;
    return runOn(store, commands, text, seen, rest.slice(Number(count)));
  };
  return {
    ...commands,
    evalsha: (store, [sha = '', count = '', ...rest]) =>
      run(store, textOf(sha), count, rest, breach === 'pause unnoticed' && sha === commit),
    eval: (store, [text = '', count = '', ...rest]) => run(store, text, count, rest),
  };
}

const TEXTS: Record<string, Command> = {
  get: (store, [key = '']) => store.get(key),
  set: (store, [key = '', value = '', px, ttl, only]) =>
    store.set(key, value, px === 'PX' ? Number(ttl) : undefined, only === 'NX'),
  del: (store, keys) => keys.reduce((gone, key) => gone + store.del(key), 0),
  exists: (store, keys) => keys.filter((key) => store.exists(key)).length,
  getrange: (store, [key = '', from = '', to = '']) =>
    (store.get(key) ?? '').slice(Number(from), Number(to) + 1),
  pttl: (store, [key = '']) => store.pttl(key),
  pexpire: (store, [key = '', px = '']) => store.set(key, store.get(key) ?? '', Number(px)) && 1,
  setbit: (store, [key = '', offset = '']) => store.setbit(key, Number(offset)),
  getbit: (store, [key = '', offset = '']) => store.getbit(key, Number(offset)),
  getBuffer: (store, [key = '']) => store.bitmap(key),
  incr: (store, [key = '']) => increased(store, key, 1),
  incrby: (store, [key = '', by = '']) => increased(store, key, Number(by)),
};

function increased(store: Store, key: string, by: number): number {
  const sum = Number(store.get(key) ?? 0) + by;
  store.set(key, String(sum));
  return sum;
}

const HASHES: Record<string, Command> = {
  hget: (store, [key = '', field = '']) => store.hget(key, field),
  hgetall: (store, [key = '']) => Object.fromEntries(store.fields(key)),
  hset: (store, [key = '', ...pairs]) =>
    inPairs(pairs).reduce((fresh, [field, value]) => fresh + store.hset(key, field, value), 0),
  hsetnx: (store, [key = '', field = '', value = '']) => store.hsetnx(key, field, value),
  hdel: (store, [key = '', ...fields]) => store.hdel(key, ...fields),
  hincrby: (store, [key = '', field = '', by = '']) => store.hincrby(key, field, Number(by)),
  hscan: (store, [key = '']) => ['0', [...store.fields(key)].flat()],
  hkeys: (store, [key = '']) => [...store.fields(key).keys()],
  hvals: (store, [key = '']) => [...store.fields(key).values()],
  hlen: (store, [key = '']) => store.fields(key).size,
  hexists: (store, [key = '', field = '']) => (store.hget(key, field) === null ? 0 : 1),
  hmget: (store, [key = '', ...fields]) => fields.map((field) => store.hget(key, field)),
};

const SORTED: Record<string, Command> = {
  zadd: (store, [key = '', ...rest]) => {
    const [first = '', second = '', third = ''] = rest;
    if (first === 'NX' || first === 'XX') return store.zadd(key, Number(second), third, first);
    return store.zadd(key, Number(first), second);
  },
  zcount: (store, [key = '', min = '', max = '']) =>
    store.ranked(key).filter(([, score]) => isBetween(score, min, max)).length,
  zcard: (store, [key = '']) => store.zcard(key),
  zremrangebyrank: (store, [key = '', from = '', to = '']) =>
    store.zremrangebyrank(key, Number(from), Number(to)),
  zremrangebyscore: (store, [key = '', , max = '']) =>
    store
      .ranked(key)
      .filter(([member, score]) => score <= Number(max) && store.zrem(key, member) === 1).length,
  zrangebyscore: (store, [key = '', min = '', max = '', , , most = '']) =>
    store
      .ranked(key)
      .filter(([, score]) => isBetween(score, min, max))
      .slice(0, Number(most))
      .map(([member]) => member),
  zscan: (store, [key = '']) => [
    '0',
    store.ranked(key).flatMap(([member, score]) => [member, String(score)]),
  ],
  zrem: (store, [key = '', member = '']) => store.zrem(key, member),
  zrange: (store, [key = '', from = '', to = '', scores]) => {
    const all = scores === 'REV' ? store.ranked(key).reverse() : store.ranked(key);
    const some = all.slice(Number(from), to === '-1' ? undefined : Number(to) + 1);
    return some.flatMap(([member, score]) =>
      scores === 'WITHSCORES' ? [member, String(score)] : [member],
    );
  },
};

const OTHERS: Record<string, Command> = {
  expire: () => 1,
  sadd: (store, [key = '', member = '']) => void store.members(key).add(member),
  srem: (store, [key = '', member = '']) => void store.members(key).delete(member),
  smembers: (store, [key = '']) => [...store.members(key)],
  // The stream of changes feeds only the dashboard.
  xadd: () => '1-1',
  lpush: (store, [key = '', value = '']) => store.list(key).unshift(value),
  rpush: (store, [key = '', value = '']) => store.list(key).push(value),
  ltrim: (store, [key = '', from = '', to = '']) => {
    const list = store.list(key);
    list.splice(0, list.length, ...list.slice(Number(from), Number(to) + 1 || undefined));
    return 'OK';
  },
  lrange: (store, [key = '']) => [...store.list(key)],
  time: (store) => {
    const micros = Math.round(store.now() * 1000);
    return [String(Math.floor(micros / 1_000_000)), String(micros % 1_000_000)];
  },
};

function isBetween(score: number, min: string, max: string): boolean {
  return (min === '-inf' || score >= Number(min)) && (max === '+inf' || score <= Number(max));
}

function inPairs(flat: readonly string[]): [string, string][] {
  return flat.flatMap((value, i): [string, string][] =>
    i % 2 === 1 ? [[flat[i - 1] ?? '', value]] : [],
  );
}

/** Arguments as they go over the wire: ioredis takes an object for the pairs of a hash. */
export function flatten(args: readonly unknown[]): readonly string[] {
  if (args.every((arg) => typeof arg === 'string')) return args;
  const flat: string[] = [];
  for (const arg of args) {
    if (typeof arg === 'string') flat.push(arg);
    else if (typeof arg !== 'object' || arg === null) flat.push(String(arg));
    else for (const [name, value] of Object.entries(arg)) flat.push(name, String(value));
  }
  return flat;
}
