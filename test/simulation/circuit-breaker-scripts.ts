import type { Port } from './port.ts';
import type { Store } from './store.ts';

/** Ledger time: Redis' clock without its steps. */
export function ledgerTime(store: Store, identityKey: string): number {
  return store.now() - Number(store.hget(identityKey, 'shift') ?? 0);
}

export const clock: Port = (
  store,
  [key = '', due = '', doubt = '', rebuildKey = ''],
  [known = '', jumped = ''],
) => {
  const stored = (field: string) => Number(store.hget(key, field) ?? 0);
  const before = stored('shift');
  const isIdle = store.zcard(due) + store.zcard(doubt) === 0 && store.fields(rebuildKey).size === 0;
  const [now, last, ahead] = [store.now() - before, stored('last'), Number(jumped)];
  let [shift, steps] = [before, stored('steps')];
  if (now < last) [shift, steps] = [store.now() - last, steps + 1];
  else if (ahead > 0 && steps === Number(known)) [shift, steps] = [shift + ahead, steps + 1];
  else if (shift > 0 && isIdle) [shift, steps] = [0, steps + 1];
  else if (shift < 0) shift = Math.min(0, shift + (now - last) / 10);
  const at = (store.now() - shift).toFixed(3);
  const stepAt = steps > stored('steps') ? at : (store.hget(key, 'stepAt') ?? '0');
  store.hset(key, 'last', at);
  const fields = { shift: shift.toFixed(3), steps: String(steps), stepAt };
  if (shift !== before)
    for (const [name, value] of Object.entries(fields)) store.hset(key, name, value);
  return [at, steps, stepAt];
};

export const identity: Port = (
  store,
  [key = '', rebuildKey = '', breakerKey = '', ownKey = ''],
  args,
) => {
  const asked = JSON.parse(args[0] ?? '') as Record<'sequence' | 'made' | 'now' | 'wait', number> &
    Record<'epoch' | 'name' | 'field' | 'hold' | 'emptied', string>;
  const { epoch: remembered, sequence: number, name, made, field, hold, emptied } = asked;
  const [continued, wait] = [`${asked.now}`, `${asked.wait}`];
  const own = Number(store.get(ownKey) ?? 0);
  store.set(ownKey, String(Math.max(own, made)));
  const epoch = store.hget(key, 'epoch');
  const sequence = Number(store.hget(key, 'sequence') ?? 0);
  const succeeds = store.hget(key, 'succeeds') ?? '';
  const isSame =
    epoch !== null &&
    (remembered === '' ||
      succeeds.split(' ').includes(remembered) ||
      (epoch === remembered && sequence >= number && own >= made));
  if (isSame) return ['same', epoch, String(sequence)];
  const most = String(Math.max(sequence, number));
  store.hset(key, 'epoch', name);
  store.hset(key, 'sequence', most);
  store.hset(key, 'succeeds', `${remembered} ${epoch ?? ''} ${succeeds}`.slice(0, 1000));
  store.del(rebuildKey);
  const isNew = remembered === '';
  store.hset(rebuildKey, 'why', isNew ? 'new' : 'rolled-back');
  store.hset(rebuildKey, 'epoch', name);
  const now = isNew ? Math.floor(ledgerTime(store, key)) : Number(continued) + Number(wait);
  store.hset(rebuildKey, 'notBefore', String(now));
  const steps = String(Number(store.hget(key, 'steps') ?? 0) + 1);
  const fields = {
    shift: (store.now() - Number(continued)).toFixed(3),
    steps,
    last: continued,
    stepAt: continued,
  };
  if (!isNew) for (const [one, value] of Object.entries(fields)) store.hset(key, one, value);
  if (isNew || epoch === null) store.hset(key, 'begunAt', isNew ? String(now) : continued);
  if (!isNew) store.hset(rebuildKey, 'wait', wait);
  if (!isNew) store.hsetnx(breakerKey, field, epoch === null ? emptied : hold);
  return [isNew ? 'new' : epoch === null ? 'emptied' : 'rolled-back', name, most];
};

export const rebuild: Port = (
  store,
  [key = '', breakerKey = '', pauses = '', listProof = '', listShown = ''],
  args,
) => {
  const asked = JSON.parse(args[0] ?? '') as Record<'verb' | 'epoch' | 'field', string> & {
    now: number;
    other: string;
    shown?: number;
    assumed?: string;
    isNew?: true;
    hold: string;
  } & Record<'tries' | 'quick' | 'usual' | 'longest', number>;
  const { verb, epoch, field, now, other, shown, assumed, tries, quick, usual, longest } = asked;
  if ((store.hget(key, 'epoch') ?? '') !== epoch) return 0;
  if (verb === 'end') {
    const why = store.hget(key, 'why') ?? '';
    store.del(key);
    store.hdel(listProof, 'turn', 'reads', 'nextAt', 'expect');
    store.hdel(breakerKey, 'hold:list');
    store.hdel(listProof, 'proof', 'before', 'assumed');
    if (assumed) store.hset(listProof, 'assumed', assumed);
    if (shown === undefined) store.del(listShown);
    const due =
      shown === undefined
        ? []
        : [
            ['proof', 'due'],
            ['before', `${shown}`],
            ['why', why],
          ];
    for (const [name = '', value = ''] of due) store.hset(listProof, name, value);
    for (const one of [field, other]) endHold(store, breakerKey, one, pauses, now);
    return 1;
  }
  if (verb === 'show') return store.hsetnx(breakerKey, field, asked.hold);
  const hold = store.hget(breakerKey, field);
  const was = JSON.parse(hold ?? '{}') as Hold;
  const failed = store.hincrby(key, 'failed', 1);
  const grown = Math.min(longest, usual * 2 ** Math.min(Math.max(failed - tries, 0), 20));
  store.hset(key, 'notBefore', String(now + (failed < tries ? quick : grown)));
  const wanted = JSON.parse(asked.hold) as typeof was;
  const since = hold !== null && was.code === wanted.code ? was.since : wanted.since;
  const becomes = asked.isNew ? { ...wanted, since } : hold === null ? wanted : was;
  store.hset(breakerKey, field, JSON.stringify(becomes));
  return 1;
};

/** What a read of the list makes of the wait for the order of the turn. */
export const listProof: Port = (
  store,
  keys,
  [verb, now = '', turn = '', nextAt = '', text = ''],
) => {
  const [key = '', shown = '', breakerKey = '', pauses = ''] = keys;
  const hold = 'hold:list';
  if (store.hget(key, 'proof') !== 'due' || (store.hget(key, 'turn') ?? '') !== turn) return 0;
  if (verb === 'looked') {
    store.hincrby(key, 'reads', 1);
    store.hset(key, 'nextAt', nextAt);
    if (text === '') return 1;
    const was = JSON.parse(store.hget(breakerKey, hold) ?? '{}') as Hold;
    const wanted = JSON.parse(text) as Hold;
    const since = was.code === wanted.code ? was.since : wanted.since;
    store.hset(breakerKey, hold, JSON.stringify({ ...wanted, since }));
    return 1;
  }
  store.hdel(key, 'proof', 'turn', 'before', 'reads', 'nextAt', 'expect');
  store.del(shown);
  if (store.hget(breakerKey, hold) === null) return 1;
  endHold(store, breakerKey, hold, pauses, Number(now));
  store.hset(breakerKey, 'trialAt', now);
  return 1;
};

type Hold = { code: string; reason: string; since: number };

function endHold(store: Store, key: string, field: string, pauses: string, to: number): void {
  const text = store.hget(key, field);
  if (text === null) return;
  const { code, reason, since } = JSON.parse(text) as Hold;
  store.hdel(key, field);
  store.list(pauses).unshift(JSON.stringify({ code, reason, from: since, to }));
}

export const breaker: Port = (
  store,
  [key = '', pauses = ''],
  [verb, now = '', first = '', second = '', third = '', fourth = ''],
) => {
  switch (verb) {
    case 'reset':
      return reset(store, key, pauses, Number(now));
    case 'slow':
      return slow(store, key, Math.max(Number(first), Number(store.hget(key, 'slowUntil') ?? 0)));
    case 'try':
      store.hset(key, 'trialAt', now);
      return 1;
    case 'begin':
      return begin(store, key, Number(now));
    case 'unused':
      return passOn(store, key, now, Number(first));
    case 'lift':
      if (store.hget(key, 'slowUntil') !== null) store.hset(key, 'trialAt', now);
      store.hdel(key, 'slowUntil');
      if (store.hget(key, 'since') === null) return 0;
      store.hset(key, 'probeAt', now);
      store.hset(key, 'wait', first);
      return 1;
    case 'trip':
      return trip(store, key, Number(now), Number(first), [second, third, fourth]);
    case 'saw':
      return store.hget(key, 'since') === null ? 0 : saw(store, key, now, [first, second]);
    default:
      return probe(store, key, Number(now), Number(first), Number(second));
  }
};

/** Milliseconds between two orders that try. */
const LEAST = 250;

function begin(store: Store, key: string, now: number): number {
  const last = Number(store.hget(key, 'beganAt') ?? 0);
  if (now >= last && now < last + LEAST) return 0;
  store.hset(key, 'beganAt', String(now));
  return 1;
}

function passOn(store: Store, key: string, now: string, initial: number): number {
  if (store.hget(key, 'since') !== null) {
    store.hset(key, 'probeAt', now);
    store.hset(key, 'wait', String(Math.max(initial, Number(store.hget(key, 'wait') ?? 0) / 2)));
  } else if (store.hget(key, 'trialAt') !== null) store.hset(key, 'trialAt', now);
  return 1;
}

function slow(store: Store, key: string, until: number): number {
  store.hset(key, 'slowUntil', String(until));
  store.hset(key, 'trialAt', String(until));
  return 1;
}

function trip(
  store: Store,
  key: string,
  now: number,
  asked: number,
  [code = '', reason = '', remedy = '']: string[],
): number {
  const wait = Math.max(LEAST, asked);
  if (store.hsetnx(key, 'since', String(now)) === 1) {
    store.hset(key, 'probeAt', String(now + wait));
    store.hset(key, 'wait', String(wait));
    store.hset(key, 'first', reason);
  } else if (now + wait > Number(store.hget(key, 'probeAt') ?? 0))
    store.hset(key, 'probeAt', String(now + wait));
  return saw(store, key, String(now), [code, reason, remedy]);
}

function saw(
  store: Store,
  key: string,
  now: string,
  [code = '', reason = '', remedy = '']: string[],
): number {
  for (const [field, value] of Object.entries({ code, reason, seenAt: now, remedy }))
    store.hset(key, field, value);
  return 1;
}

function reset(store: Store, key: string, pauses: string, to: number): number {
  store.hdel(key, 'slowUntil', 'trialAt', 'beganAt');
  const since = store.hget(key, 'since');
  if (since === null) return 0;
  const [code, reason, first] = ['code', 'reason', 'first'].map((field) => store.hget(key, field));
  const began = first == null || first === reason ? {} : { firstReason: first };
  store.list(pauses).unshift(JSON.stringify({ code, reason, from: Number(since), to, ...began }));
  store.hdel(key, 'code', 'reason', 'since', 'first', 'seenAt', 'probeAt', 'wait', 'remedy');
  return 1;
}

function probe(store: Store, key: string, now: number, initial: number, max: number): number {
  const at = store.hget(key, 'probeAt');
  if (at === null) return trial(store, key, now);
  if (now < Number(at)) return 0;
  const wait = Math.min(max, 2 * Math.min(max, Number(store.hget(key, 'wait') ?? initial)));
  store.hset(key, 'probeAt', String(now + Math.max(LEAST, wait)));
  store.hset(key, 'wait', String(wait));
  return 1;
}

function trial(store: Store, key: string, now: number): number {
  const at = store.hget(key, 'trialAt');
  if (at === null || now < Number(at)) return 0;
  store.hset(key, 'trialAt', String(now + LEAST));
  return 1;
}
