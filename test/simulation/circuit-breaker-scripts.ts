import type { Port } from './port.ts';
import type { Store } from './store.ts';

export const identity: Port = (store, [key = '', takeOverKey = '', gateKey = '', ownKey = ''], args) => {
  const [remembered = '', text = '', name = '', wait = '', field = '', hold = '', made = ''] = args;
  const own = Number(store.get(ownKey) ?? 0);
  store.set(ownKey, String(Math.max(own, Number(made))));
  const now = store.now();
  const life = store.hget(key, 'life');
  const seq = Number(store.hget(key, 'seq') ?? 0);
  const number = Number(text);
  const succeeds = store.hget(key, 'succeeds') ?? '';
  const isSame =
    life !== null &&
    (remembered === '' ||
      succeeds.split(' ').includes(remembered) ||
      (life === remembered && seq >= number && own >= Number(made)));
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

export const takeOver: Port = (store, [key = '', gateKey = '', pauses = ''], args) => {
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

export const gate: Port = (store, [key = '', pauses = ''], args) => {
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
