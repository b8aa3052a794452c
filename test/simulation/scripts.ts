import { type Script, readScript } from '../../src/redis/script.ts';
import type { Store } from './store.ts';

/** A Lua script of ours in TypeScript; `store.test.ts` holds each against the real one in a real Redis. */
type Port = (store: Store, keys: readonly string[], args: readonly string[]) => unknown;

/** The scripts of src by the name that Redis knows them by. */
export function loadScripts(): ReadonlyMap<string, Port> {
  const sha = (file: string): string => readScript(new URL(`../../src/${file}`, import.meta.url)).sha;
  return new Map<Script['sha'], Port>([
    [sha('ledger/commit.lua'), commit],
    [sha('ledger/tally.lua'), tally],
    [sha('ledger/total.lua'), total],
    [sha('ledger/adopt.lua'), adopt],
    [sha('ledger/identity.lua'), identity],
    [sha('deliver/gate.lua'), gate],
    [sha('verify/take-over.lua'), takeOver],
  ]);
}

/** Renewing or releasing a lease. */
export function leaseScript(text: string): Port {
  const renews = text.includes('PEXPIRE');
  return (store, [key = ''], [owner = '', ttl = '']) => {
    if (store.get(key) !== owner) return 0;
    return renews ? (store.set(key, owner, Number(ttl)), 1) : store.del(key);
  };
}

const commit: Port = (store, keys, args) => {
  const [open = '', settled = '', due = '', doubt = '', , batchKey = '', , , , identityKey = '', deeds = '', takeOver = ''] =
    keys;
  const [number = '', expected = '', entry = '', dueAt = '', doubtAt = '', compact = '', , outcome = ''] = args;
  const [life = '', reached = '', deed = '', intended = '', travels = ''] = args.slice(14);
  if (life !== '') {
    if (!hasReached(store, identityKey, life, Number(reached))) return -1;
    if (store.hget(takeOver, 'why') === 'rolled-back') return -1;
    if (store.now() > Number(intended) + Number(travels)) return 0;
  }
  const current = store.get(open);
  const version = current === null ? '0' : current.slice(0, current.indexOf(':'));
  if (version !== expected) return 0;
  if (version === '0' && store.hget(settled, number) !== null) return 0;

  if (entry === '') store.del(open);
  else store.set(open, entry);
  score(store, due, dueAt, number);
  score(store, doubt, doubtAt, number);
  if (compact !== '') store.hset(settled, number, compact);
  if (deed !== '') store.list(deeds).push(deed);
  const seq = store.hincrby(identityKey, 'seq', 1);
  if (outcome === '') return seq;
  if (args[13] !== '') closeLetters(store, keys, args);
  if (store.hget(batchKey, 'state') !== 'done') countOutcome(store, keys, args);
  return seq;
};

function hasReached(store: Store, key: string, life: string, seq: number): boolean {
  return store.hget(key, 'life') === life && Number(store.hget(key, 'seq') ?? 0) >= seq;
}

function score(store: Store, key: string, at: string, number: string): void {
  if (at === '') store.zrem(key, number);
  else store.zadd(key, Number(at), number);
}

function closeLetters(store: Store, keys: readonly string[], args: readonly string[]): void {
  const waitingKey = keys[4] ?? '';
  const number = args[0] ?? '';
  const waiting = store.hget(waitingKey, number);
  if (waiting === null) return;
  store.hdel(waitingKey, number);
  for (const mark of waiting.split('\n')) {
    const [batch = '', ordinal = ''] = mark.split('/');
    const key = `${args[11]}:b:${batch}`;
    if (store.hsetnx(`${key}:closed`, ordinal, args[13] ?? '') === 0) continue;
    store.hincrby(key, 'open', -1);
    store.members(`${args[11]}:refresh`).add(batch);
  }
}

function countOutcome(store: Store, keys: readonly string[], args: readonly string[]): void {
  const [, , , , waitingKey = '', batchKey = '', counted = '', results = '', finished = ''] = keys;
  const [ordinal = '', outcome = '', result = '', dead = '', at = '', , batch = ''] = args.slice(6);
  if (store.setbit(counted, Number(ordinal)) === 0) {
    store.hincrby(batchKey, `n:${outcome}`, 1);
    store.hset(batchKey, 'lastAt', at);
    if (dead === '1') {
      store.hincrby(batchKey, 'open', 1);
      mark(store, waitingKey, args[0] ?? '', `${batch}/${ordinal}`);
    }
    const sum = store.hincrby(batchKey, 'counted', 1);
    finishWhenCounted(store, batchKey, finished, batch, sum);
  }
  if (result !== '') store.hset(results, ordinal, result);
}

function mark(store: Store, key: string, number: string, what: string): void {
  const waiting = store.hget(key, number);
  store.hset(key, number, waiting === null ? what : `${waiting}\n${what}`);
}

function finishWhenCounted(store: Store, batchKey: string, finished: string, batch: string, counted: number): void {
  const all = store.hget(batchKey, 'total');
  if (all !== null && counted >= Number(all)) store.members(finished).add(batch);
}

const LETTERS = new Set(['invalid', 'conflict', 'refused', 'inDoubt']);

const tally: Port = (store, keys, args) => {
  const [batchKey = '', counted = '', results = '', finished = '', waiting = ''] = keys;
  const [at = '', batch = ''] = args;
  let fresh = 0;
  for (let i = 2; i < args.length; i += 4) {
    const [ordinal = '', outcome = '', result = '', number = ''] = args.slice(i, i + 4);
    if (store.setbit(counted, Number(ordinal)) === 1) continue;
    fresh += 1;
    store.hincrby(batchKey, `n:${outcome}`, 1);
    if (result !== '') store.hset(results, ordinal, result);
    if (!LETTERS.has(outcome)) continue;
    store.hincrby(batchKey, 'open', 1);
    if (number !== '') mark(store, waiting, number, `${batch}/${ordinal}`);
  }
  if (fresh === 0) return 0;
  const sum = store.hincrby(batchKey, 'counted', fresh);
  store.hset(batchKey, 'lastAt', at);
  finishWhenCounted(store, batchKey, finished, batch, sum);
  return fresh;
};

const total: Port = (store, [batchKey = '', finished = ''], [batch = '', all = '']) => {
  store.hset(batchKey, 'total', all);
  store.hset(batchKey, 'state', 'open');
  const counted = Number(store.hget(batchKey, 'counted') ?? 0);
  finishWhenCounted(store, batchKey, finished, batch, counted);
  return counted;
};

const adopt: Port = (store, [open = '', settled = ''], [number = '', compact = '']) =>
  store.get(open) === null ? store.hsetnx(settled, number, compact) : 0;

const identity: Port = (store, [key = '', takeOverKey = '', gateKey = ''], args) => {
  const [remembered = '', text = '', name = '', wait = '', field = '', hold = ''] = args;
  const now = store.now();
  const life = store.hget(key, 'life');
  const seq = Number(store.hget(key, 'seq') ?? 0);
  const number = Number(text);
  const succeeds = store.hget(key, 'succeeds') ?? '';
  const isSame =
    life !== null &&
    (remembered === '' || succeeds.split(' ').includes(remembered) || (life === remembered && seq >= number));
  if (isSame) return ['same', life, String(seq)];
  const most = String(Math.max(seq, number));
  store.hset(key, 'life', name);
  store.hset(key, 'seq', most);
  store.hset(key, 'succeeds', `${remembered} ${life ?? ''} ${succeeds}`.slice(0, 1000));
  store.del(takeOverKey);
  const isNew = remembered === '';
  store.hset(takeOverKey, 'why', isNew ? 'new' : 'rolled-back');
  store.hset(takeOverKey, 'life', name);
  store.hset(takeOverKey, 'notBefore', String(isNew ? now : now + Number(wait)));
  if (!isNew) store.hsetnx(gateKey, field, hold);
  return [isNew ? 'new' : 'rolled-back', name, most];
};

const takeOver: Port = (store, [key = '', gateKey = '', pauses = ''], args) => {
  const [verb, life, field = '', now = '', tries = '', quick = '', usual = '', reason = ''] = args;
  if ((store.hget(key, 'life') ?? '') !== life) return 0;
  const hold = store.hget(gateKey, field);
  const was = JSON.parse(hold ?? '{}') as { code: string; reason: string; since: number };
  if (verb === 'end') {
    store.del(key);
    if (hold === null) return 1;
    store.hdel(gateKey, field);
    store
      .list(pauses)
      .unshift(JSON.stringify({ code: was.code, reason: was.reason, from: was.since, to: Number(now) }));
    return 1;
  }
  const failed = store.hincrby(key, 'failed', 1);
  store.hset(key, 'notBefore', String(Number(now) + Number(failed < Number(tries) ? quick : usual)));
  if (hold !== null && reason !== '') store.hset(gateKey, field, JSON.stringify({ ...was, reason }));
  return 1;
};

const gate: Port = (store, [key = '', pauses = ''], args) => {
  const [verb, first = '', initial = '', max = '', code = '', reason = ''] = args;
  switch (verb) {
    case 'open':
      return openGate(store, key, pauses, Number(first));
    case 'slow':
      if (Number(first) > Number(store.hget(key, 'slowUntil') ?? 0)) store.hset(key, 'slowUntil', first);
      return 1;
    case 'close':
      if (store.hsetnx(key, 'since', first) === 1) {
        store.hset(key, 'probeAt', String(Number(first) + Number(initial)));
        store.hset(key, 'wait', initial);
      }
      store.hset(key, 'code', code);
      store.hset(key, 'reason', reason);
      return 1;
    default:
      return probe(store, key, Number(first), Number(initial), Number(max));
  }
};

function openGate(store: Store, key: string, pauses: string, to: number): number {
  const since = store.hget(key, 'since');
  if (since === null) return 0;
  const [code, reason] = [store.hget(key, 'code'), store.hget(key, 'reason')];
  store.list(pauses).unshift(JSON.stringify({ code, reason, from: Number(since), to }));
  store.hdel(key, 'code', 'reason', 'since', 'probeAt', 'wait');
  return 1;
}

function probe(store: Store, key: string, now: number, initial: number, max: number): number {
  const at = store.hget(key, 'probeAt');
  if (at === null || now < Number(at)) return 0;
  const wait = Math.min(max, 2 * Number(store.hget(key, 'wait') ?? initial));
  store.hset(key, 'probeAt', String(now + wait));
  store.hset(key, 'wait', String(wait));
  return 1;
}
