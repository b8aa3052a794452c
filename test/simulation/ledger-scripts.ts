import type { Port } from './port.ts';
import type { Store } from './store.ts';

type Ledger = { store: Store; prefix: string; due: string; doubt: string; waiting: string; finished: string };

type Change = {
  number: string;
  batch: string;
  ordinal: string;
  outcome: string;
  result: string;
  dead: string;
  at: string;
  closing: string;
};

/** Changes of one trip, each for itself. */
export const commit: Port = (store, keys, [prefix = '', travels = '', made = '', ...changes]) => {
  const [due = '', doubt = '', waiting = '', finished = '', identity = '', rebuild = '', own = '', breaker = ''] = keys;
  const count = made === '' ? 0 : Number(store.get(own) ?? 0);
  const isBehind = made !== '' && count < Number(made);
  const before = Number(store.hget(identity, 'sequence') ?? 0);
  const ledger = { store, prefix, due, doubt, waiting, finished };
  const done: number[] = [];
  for (let i = 0; i < changes.length; i += 3) {
    const [number = '', entry = '', text = ''] = changes.slice(i, i + 3);
    const fields = text.split('\n');
    const [bucket = '', expected = '', dueAt = '', doubtAt = '', compact = '', batch = '', ordinal = ''] = fields;
    const [outcome = '', result = '', dead = '', at = '', closing = ''] = fields.slice(7);
    const [epoch = '', reached = '', intended = '', operatorAction = ''] = fields.slice(12);
    const may =
      epoch === ''
        ? 1
        : isBehind
          ? -1
          : mayBegin(store, [identity, rebuild, breaker], epoch, Number(reached), intended, travels);
    if (may !== 1 || !isCurrent(ledger, number, bucket, expected)) {
      done.push(may === 1 ? 0 : may);
      continue;
    }
    if (entry === '') store.del(`${prefix}:o:${number}`);
    else store.set(`${prefix}:o:${number}`, entry);
    score(store, due, dueAt, number);
    score(store, doubt, doubtAt, number);
    if (compact !== '') store.hset(`${prefix}:s:${bucket}`, number, compact);
    if (operatorAction !== '') store.list(`${prefix}:d:${number}`).push(operatorAction);
    done.push(store.hincrby(identity, 'sequence', 1));
    if (outcome !== '') settle(ledger, { number, batch, ordinal, outcome, result, dead, at, closing });
  }
  const more = Number(store.hget(identity, 'sequence') ?? 0) - before;
  if (made === '' || isBehind || more === 0) return [count, ...done];
  store.set(own, String(count + more));
  return [count + more, ...done];
};

function mayBegin(
  store: Store,
  [identity = '', rebuild = '', breaker = '']: readonly string[],
  epoch: string,
  reached: number,
  intended: string,
  travels: string,
): -2 | -1 | 0 | 1 {
  if (store.hget(identity, 'epoch') !== epoch || Number(store.hget(identity, 'sequence') ?? 0) < reached) return -1;
  if (store.hget(rebuild, 'why') === 'rolled-back') return -1;
  if ([...store.fields(breaker)].some(([field]) => field.startsWith('hold:'))) return -2;
  return store.now() > Number(intended) + Number(travels) ? 0 : 1;
}

function isCurrent({ store, prefix }: Ledger, number: string, bucket: string, expected: string): boolean {
  const current = store.get(`${prefix}:o:${number}`);
  const version = current === null ? '0' : current.slice(0, current.indexOf(':'));
  return version === expected && (version !== '0' || store.hget(`${prefix}:s:${bucket}`, number) === null);
}

function score(store: Store, key: string, at: string, number: string): void {
  if (at === '') store.zrem(key, number);
  else if (at !== '=') store.zadd(key, Number(at), number);
}

function settle(ledger: Ledger, change: Change): void {
  const { store, prefix } = ledger;
  const key = `${prefix}:b:${change.batch}`;
  if (change.closing !== '') closeDeadLetters(ledger, change);
  if (store.hget(key, 'state') !== 'done') countOutcome(ledger, key, change);
  if (change.result !== '') store.hset(`${key}:results`, change.ordinal, change.result);
}

/** But for those of other content that came after the order that was accepted. */
function closeDeadLetters({ store, prefix, waiting }: Ledger, { number, batch, ordinal, closing }: Change): void {
  const deadLetters = store.hget(waiting, number);
  if (deadLetters === null) return;
  store.hdel(waiting, number);
  const no = Number(store.hget(`${prefix}:b:${batch}`, 'no') ?? 0);
  for (const deadLetter of deadLetters.split('\n')) {
    const [of = '', at = ''] = deadLetter.split('/');
    const key = `${prefix}:b:${of}`;
    const ofNo = Number(store.hget(key, 'no') ?? 0);
    const isLater = ofNo > no || (ofNo === no && Number(at) > Number(ordinal));
    if (isLater && outcomeOf(store.hget(`${key}:results`, at)) === 'conflict') {
      mark(store, waiting, number, deadLetter);
    } else if (store.hsetnx(`${key}:closed`, at, closing) === 1) {
      store.hincrby(key, 'open', -1);
      store.members(`${prefix}:refresh`).add(of);
    }
  }
}

function outcomeOf(result: string | null): unknown {
  return (JSON.parse(result ?? '{}') as { outcome?: unknown }).outcome;
}

function countOutcome({ store, waiting, finished }: Ledger, key: string, change: Change): void {
  const { number, batch, ordinal, outcome, dead, at } = change;
  if (store.setbit(`${key}:counted`, Number(ordinal)) === 1) return;
  store.hincrby(key, `n:${outcome}`, 1);
  store.hset(key, 'lastAt', at);
  if (dead === '1') {
    store.hincrby(key, 'open', 1);
    mark(store, waiting, number, `${batch}/${ordinal}`);
  }
  finishWhenCounted(store, key, finished, batch, store.hincrby(key, 'counted', 1));
}

/** What is known of each number: its entry, or `=` and the compact entry. */
export const lookup: Port = (store, _, [prefix = '', ...asked]) =>
  asked.flatMap((number, i) => {
    if (i % 2 === 1) return [];
    const compact = store.hget(`${prefix}:s:${asked[i + 1]}`, number);
    return [store.get(`${prefix}:o:${number}`) ?? (compact === null ? null : `=${compact}`)];
  });

function mark(store: Store, key: string, number: string, what: string): void {
  const waiting = store.hget(key, number);
  store.hset(key, number, waiting === null ? what : `${waiting}\n${what}`);
}

function finishWhenCounted(store: Store, batchKey: string, finished: string, batch: string, counted: number): void {
  const all = store.hget(batchKey, 'total');
  if (all !== null && counted >= Number(all)) store.members(finished).add(batch);
}

const LETTERS = new Set(['invalid', 'conflict', 'refused', 'failed', 'inDoubt']);

export const tally: Port = (store, keys, args) => {
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

export const total: Port = (store, [batchKey = '', finished = ''], [batch = '', all = '']) => {
  store.hset(batchKey, 'total', all);
  store.hset(batchKey, 'state', 'open');
  const counted = Number(store.hget(batchKey, 'counted') ?? 0);
  finishWhenCounted(store, batchKey, finished, batch, counted);
  return counted;
};

export const adopt: Port = (store, [open = '', settled = ''], [number = '', compact = '']) =>
  store.get(open) === null ? store.hsetnx(settled, number, compact) : 0;
