import type { Port } from './port.ts';
import type { Store } from './store.ts';

export const identity: Port = (store, [key = '', rebuildKey = '', breakerKey = '', ownKey = ''], args) => {
  const [remembered = '', text = '', name = '', wait = '', field = '', hold = '', made = ''] = args;
  const own = Number(store.get(ownKey) ?? 0);
  store.set(ownKey, String(Math.max(own, Number(made))));
  const now = store.now();
  const epoch = store.hget(key, 'epoch');
  const sequence = Number(store.hget(key, 'sequence') ?? 0);
  const number = Number(text);
  const succeeds = store.hget(key, 'succeeds') ?? '';
  const isSame =
    epoch !== null &&
    (remembered === '' ||
      succeeds.split(' ').includes(remembered) ||
      (epoch === remembered && sequence >= number && own >= Number(made)));
  if (isSame) return ['same', epoch, String(sequence)];
  const most = String(Math.max(sequence, number));
  store.hset(key, 'epoch', name);
  store.hset(key, 'sequence', most);
  store.hset(key, 'succeeds', `${remembered} ${epoch ?? ''} ${succeeds}`.slice(0, 1000));
  store.del(rebuildKey);
  const isNew = remembered === '';
  store.hset(rebuildKey, 'why', isNew ? 'new' : 'rolled-back');
  store.hset(rebuildKey, 'epoch', name);
  store.hset(rebuildKey, 'notBefore', String(isNew ? now : now + Number(wait)));
  if (!isNew) store.hsetnx(breakerKey, field, hold);
  return [isNew ? 'new' : 'rolled-back', name, most];
};

export const rebuild: Port = (store, [key = '', breakerKey = '', pauses = ''], args) => {
  const [verb, epoch, field = '', now = '', tries = '', quick = '', usual = '', reason = ''] = args;
  if ((store.hget(key, 'epoch') ?? '') !== epoch) return 0;
  const hold = store.hget(breakerKey, field);
  const was = JSON.parse(hold ?? '{}') as { code: string; reason: string; since: number };
  if (verb === 'end') {
    store.del(key);
    if (hold === null) return 1;
    store.hdel(breakerKey, field);
    store
      .list(pauses)
      .unshift(JSON.stringify({ code: was.code, reason: was.reason, from: was.since, to: Number(now) }));
    return 1;
  }
  const failed = store.hincrby(key, 'failed', 1);
  store.hset(key, 'notBefore', String(Number(now) + Number(failed < Number(tries) ? quick : usual)));
  if (hold !== null && reason !== '') store.hset(breakerKey, field, JSON.stringify({ ...was, reason }));
  return 1;
};

export const breaker: Port = (store, [key = '', pauses = ''], args) => {
  const [verb, first = '', initial = '', max = '', code = '', reason = ''] = args;
  switch (verb) {
    case 'open':
      return createCircuitBreaker(store, key, pauses, Number(first));
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

function createCircuitBreaker(store: Store, key: string, pauses: string, to: number): number {
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
