import { leaseScript, loadScripts } from './scripts.ts';
import type { Store } from './store.ts';
import type { Breach } from './weather.ts';

/** A command with its arguments as ioredis takes them, and the answer that ioredis gives. */
export type Command = (store: Store, args: readonly string[]) => unknown;

/** Ends a world at once. */
export class UnknownScript extends Error {}

/** The commands of Redis that delivery uses, by name. */
export function commandTable(breach?: Breach): Readonly<Record<string, Command>> {
  const scripts = loadScripts(breach);
  return {
    ...TEXTS,
    ...HASHES,
    ...SORTED,
    ...OTHERS,
    evalsha: (store, [sha = '', count = '', ...rest]) => {
      const script = scripts.get(sha);
      if (script === undefined)
        throw new UnknownScript('a script of src that scripts.ts does not have');
      return script(store, rest.slice(0, Number(count)), rest.slice(Number(count)));
    },
    eval: (store, [text = '', count = '', ...rest]) =>
      leaseScript(text)(store, rest.slice(0, Number(count)), rest.slice(Number(count))),
  };
}

const TEXTS: Record<string, Command> = {
  get: (store, [key = '']) => store.get(key),
  set: (store, [key = '', value = '', px, ttl, only]) =>
    store.set(key, value, px === 'PX' ? Number(ttl) : undefined, only === 'NX'),
  del: (store, keys) => keys.reduce((gone, key) => gone + store.del(key), 0),
  exists: (store, [key = '']) => store.exists(key),
  getBuffer: (store, [key = '']) => store.bitmap(key),
  incr: (store, [key = '']) => {
    const sum = Number(store.get(key) ?? 0) + 1;
    store.set(key, String(sum));
    return sum;
  },
};

const HASHES: Record<string, Command> = {
  hget: (store, [key = '', field = '']) => store.hget(key, field),
  hgetall: (store, [key = '']) => Object.fromEntries(store.fields(key)),
  hset: (store, [key = '', ...pairs]) =>
    inPairs(pairs).reduce((fresh, [field, value]) => fresh + store.hset(key, field, value), 0),
  hsetnx: (store, [key = '', field = '', value = '']) => store.hsetnx(key, field, value),
  hdel: (store, [key = '', ...fields]) => store.hdel(key, ...fields),
  hincrby: (store, [key = '', field = '', by = '']) => store.hincrby(key, field, Number(by)),
  hscan: (store, [key = '']) => ['0', [...store.fields(key)].flat()],
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
