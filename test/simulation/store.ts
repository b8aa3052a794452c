/** A job of the queue, which is in the same Redis. `lock` names the run that holds it. */
export type StoredJob = {
  id: string;
  name: string;
  batch: string;
  numbers: readonly string[];
  readyAt: number;
  lock: string | undefined;
};

type Text = { value: string; until: number | undefined };

/** Everything a Redis holds, as far as delivery uses it. */
export type Data = {
  texts: Map<string, Text>;
  hashes: Map<string, Map<string, string>>;
  sorted: Map<string, Map<string, number>>;
  sets: Map<string, Set<string>>;
  bits: Map<string, Set<number>>;
  lists: Map<string, string[]>;
  jobs: Map<string, StoredJob>;
};

export type Store = ReturnType<typeof openStore>;

/** Ledger time: Redis' clock without its steps. */
export function ledgerTime(store: Store, identityKey: string): number {
  return store.now() - Number(store.hget(identityKey, 'shift') ?? 0);
}

/** A Redis in memory: the commands that delivery uses, with the answers that Redis gives. `now` in milliseconds. */
export function openStore(now: () => number) {
  let data = emptyData();

  function get(key: string): string | null {
    const text = data.texts.get(key);
    if (text === undefined) return null;
    if (text.until !== undefined && text.until <= now()) return null;
    return text.value;
  }

  function set(key: string, value: string, px?: number, onlyNew = false): 'OK' | null {
    if (onlyNew && get(key) !== null) return null;
    data.texts.set(key, { value, until: px === undefined ? undefined : now() + px });
    return 'OK';
  }

  /** Milliseconds until a key expires; -1 for never. */
  function pttl(key: string): number {
    if (get(key) === null) return -2;
    const { until } = data.texts.get(key) ?? {};
    return until === undefined ? -1 : until - now();
  }

  function exists(key: string): boolean {
    const { hashes, sorted, sets, bits } = data;
    const isThere = [hashes, sorted, sets, bits].some((kind) => (kind.get(key)?.size ?? 0) > 0);
    return isThere || get(key) !== null || (data.lists.get(key)?.length ?? 0) > 0;
  }

  function del(key: string): number {
    const { texts, hashes, sorted, sets, bits, lists } = data;
    return [texts, hashes, sorted, sets, bits, lists].some((kind) => kind.delete(key)) ? 1 : 0;
  }

  function hash(key: string): Map<string, string> {
    return orNew(data.hashes, key, () => new Map());
  }

  function hset(key: string, field: string, value: string): number {
    const fields = hash(key);
    const fresh = fields.has(field) ? 0 : 1;
    fields.set(field, value);
    return fresh;
  }

  function hsetnx(key: string, field: string, value: string): number {
    return hash(key).has(field) ? 0 : hset(key, field, value);
  }

  function hincrby(key: string, field: string, by: number): number {
    const sum = Number(hget(key, field) ?? 0) + by;
    hset(key, field, String(sum));
    return sum;
  }

  function hget(key: string, field: string): string | null {
    return data.hashes.get(key)?.get(field) ?? null;
  }

  function hdel(key: string, ...fields: string[]): number {
    const all = data.hashes.get(key);
    const gone = fields.filter((field) => all?.delete(field) === true).length;
    if (all?.size === 0) data.hashes.delete(key);
    return gone;
  }

  function zadd(key: string, score: number, member: string, only?: 'NX' | 'XX'): number {
    const members = orNew(data.sorted, key, () => new Map<string, number>());
    const known = members.has(member);
    if ((only === 'NX' && known) || (only === 'XX' && !known)) return 0;
    members.set(member, score);
    return known ? 0 : 1;
  }

  function zrem(key: string, member: string): number {
    return data.sorted.get(key)?.delete(member) ? 1 : 0;
  }

  /** Members with their scores, lowest first. */
  function ranked(key: string): [string, number][] {
    return [...(data.sorted.get(key) ?? [])].sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1));
  }

  /** Removes the members between two ranks; a negative rank counts from the end. */
  function zremrangebyrank(key: string, from: number, to: number): number {
    const all = ranked(key);
    const last = to < 0 ? all.length + to : to;
    const gone = all.slice(from, last + 1);
    for (const [member] of gone) zrem(key, member);
    return gone.length;
  }

  function setbit(key: string, offset: number): number {
    const bits = orNew(data.bits, key, () => new Set<number>());
    const before = bits.has(offset) ? 1 : 0;
    bits.add(offset);
    return before;
  }

  function getbit(key: string, offset: number): number {
    return data.bits.get(key)?.has(offset) ? 1 : 0;
  }

  function list(key: string): string[] {
    return orNew(data.lists, key, () => []);
  }

  function members(key: string): Set<string> {
    return orNew(data.sets, key, () => new Set());
  }

  /** The bytes of a bitmap. */
  function bitmap(key: string): Buffer | null {
    const bits = data.bits.get(key);
    if (bits === undefined) return null;
    const bytes = Buffer.alloc(1 + (Math.max(0, ...bits) >> 3));
    for (const bit of bits)
      bytes.writeUInt8((bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7)), bit >> 3);
    return bytes;
  }

  return {
    now,
    get,
    set,
    pttl,
    exists,
    del,
    fields: (key: string): ReadonlyMap<string, string> => data.hashes.get(key) ?? new Map(),
    hset,
    hsetnx,
    hincrby,
    hget,
    hdel,
    zadd,
    zrem,
    ranked,
    zremrangebyrank,
    setbit,
    getbit,
    bitmap,
    list,
    members,
    zcard: (key: string) => data.sorted.get(key)?.size ?? 0,
    /** The lowest score of a sorted set. */
    lowest(key: string): number | undefined {
      let lowest: number | undefined;
      for (const score of data.sorted.get(key)?.values() ?? []) {
        if (lowest === undefined || score < lowest) lowest = score;
      }
      return lowest;
    },
    jobs: () => data.jobs,
    /** What a copy on disk would hold now. */
    copy: () => copyOf(data),
    /** The server comes back with older data, or empty. */
    restore(older: Data | undefined): void {
      data = older === undefined ? emptyData() : copyOf(older);
    },
  };
}

function emptyData(): Data {
  return {
    texts: new Map(),
    hashes: new Map(),
    sorted: new Map(),
    sets: new Map(),
    bits: new Map(),
    lists: new Map(),
    jobs: new Map(),
  };
}

function copyOf({ texts, hashes, sorted, sets, bits, lists, jobs }: Data): Data {
  return {
    texts: new Map(texts),
    hashes: mapped(hashes, (fields) => new Map(fields)),
    sorted: mapped(sorted, (members) => new Map(members)),
    sets: mapped(sets, (members) => new Set(members)),
    bits: mapped(bits, (offsets) => new Set(offsets)),
    lists: mapped(lists, (items) => [...items]),
    jobs: mapped(jobs, (job) => ({ ...job })),
  };
}

function mapped<V>(from: Map<string, V>, copy: (value: V) => V): Map<string, V> {
  return new Map([...from].map(([key, value]) => [key, copy(value)]));
}

function orNew<V>(map: Map<string, V>, key: string, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
