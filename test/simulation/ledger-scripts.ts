import { ledgerTime } from './circuit-breaker-scripts.ts';
import type { Port } from './port.ts';
import type { Store } from './store.ts';

type Ledger = {
  store: Store;
  prefix: string;
  due: string;
  doubt: string;
  waiting: string;
  followers: string;
};

type Intent = { epoch: string; sequence: number; at: number };

/** As named at the head of `commit.lua`. */
type Change = {
  number: string;
  key: string;
  bucket: string;
  expected: number;
  batch: string;
  ordinal: number;
  due?: number;
  doubt?: number;
  noDoubt?: true;
  compact?: string;
  outcome?: string;
  at?: number;
  result?: string;
  needsPerson?: true;
  seen?: [string, string];
  closing?: string;
  intent?: Intent;
  operatorAction?: string;
  followers?: string;
  from?: Taken[];
  ending?: string;
  isAdmission?: true;
  isAbsent?: true;
  witness?: { before: string; text: string };
};

/** Changes of one trip, each for itself. */
export const commit: Port = (store, keys, args) => {
  const [prefix = '', travels = '', made = '', unproved = '', ...changes] = args;
  const [
    due = '',
    doubt = '',
    waiting = '',
    finished = '',
    identity = '',
    rebuild = '',
    own = '',
    followers = '',
    breaker = '',
    listProof = '',
  ] = keys;
  const mine = made === '' ? 0 : Number(store.get(own) ?? 0);
  const isBehind = made !== '' && mine < Number(made);
  const before = Number(store.hget(identity, 'sequence') ?? 0);
  const ledger = { store, prefix, due, doubt, waiting, followers };
  const tallies = openTallies(store, prefix, waiting, finished);
  const turn = openTurn(store, { listProof, breaker }, unproved);
  const done: number[] = [];
  for (let i = 0; i < changes.length; i += 2) {
    const [entry = '', text = ''] = changes.slice(i, i + 2);
    const change = JSON.parse(text) as Change;
    const { number, key, batch, ordinal, intent, witness } = change;
    const isApart = key !== `=${number}` && store.hget(`${prefix}:apart`, number) !== null;
    const isRefused =
      change.isAdmission && (isApart || !mayBeAdmitted(store, prefix, batch, `${ordinal}`));
    const may =
      intent === undefined
        ? 1
        : isBehind
          ? -1
          : mayBegin(store, [identity, rebuild, breaker], intent, Number(travels));
    if (may !== 1 || !isCurrent(ledger, change) || isRefused) {
      done.push(may === 1 ? 0 : may);
      continue;
    }
    const isTaking = !change.outcome && (change.isAdmission || change.from !== undefined);
    if (isTaking && isBeingCorrected(ledger, number, batch)) {
      done.push(-4);
      continue;
    }
    if (intent && !turn.takenBy(number, intent.at)) {
      done.push(-2);
      continue;
    }
    const isNext = witness?.before === (store.hget(listProof, 'witness') ?? '');
    if (witness && !isNext) {
      done.push(0);
      continue;
    }
    if (isTaking && !takeLetters(ledger, change.from ?? [], change)) {
      done.push(-4);
      continue;
    }
    if (change.isAbsent) turn.passOn(number);
    if (witness) store.hset(listProof, 'witness', witness.text);
    if (entry === '') store.del(`${prefix}:o:${key}`);
    else store.set(`${prefix}:o:${key}`, entry);
    if (change.due === undefined) store.zrem(due, key);
    else store.zadd(due, change.due, key);
    if (change.doubt !== undefined) store.zadd(doubt, change.doubt, key);
    if (change.noDoubt) store.zrem(doubt, key);
    if (change.compact) store.hset(`${prefix}:s:${change.bucket}`, key, change.compact);
    if (change.operatorAction) store.list(`${prefix}:d:${number}`).push(change.operatorAction);
    done.push(store.hincrby(identity, 'sequence', 1));
    if (change.outcome) settle(ledger, tallies, { ...change, outcome: change.outcome });
  }
  tallies.write();
  const more = Number(store.hget(identity, 'sequence') ?? 0) - before;
  if (made === '' || isBehind || more === 0) return [mine, ...done];
  store.set(own, String(mine + more));
  return [mine + more, ...done];
};

const TURN = 'hold:list';

/** The one order of a new ledger that the list must show first. */
function openTurn(store: Store, keys: { listProof: string; breaker: string }, reason: string) {
  const isDue = store.hget(keys.listProof, 'proof') === 'due';
  let turn = store.hget(keys.listProof, 'turn') ?? undefined;

  function takenBy(number: string, since: number): boolean {
    if (!isDue || turn === number) return true;
    if (turn !== undefined) return false;
    turn = number;
    store.hset(keys.listProof, 'turn', number);
    store.hset(keys.listProof, 'turnAt', String(since));
    const hold = { code: 'list-unproved', reason, since, turn };
    store.hset(keys.breaker, TURN, JSON.stringify(hold));
    return true;
  }

  function passOn(number: string): void {
    if (turn !== number) return;
    turn = undefined;
    store.hdel(keys.listProof, 'turn', 'reads', 'nextAt');
    store.hdel(keys.breaker, TURN);
  }

  return { takenBy, passOn };
}

function mayBegin(
  store: Store,
  [identity = '', rebuild = '', breaker = '']: readonly string[],
  { epoch, sequence, at }: Intent,
  travels: number,
): -3 | -2 | -1 | 1 {
  if (
    store.hget(identity, 'epoch') !== epoch ||
    Number(store.hget(identity, 'sequence') ?? 0) < sequence
  )
    return -1;
  if (store.fields(rebuild).size > 0) return -1;
  if ([...store.fields(breaker)].some(([field]) => field !== TURN && field.startsWith('hold:')))
    return -2;
  return ledgerTime(store, identity) > at + travels ? -3 : 1;
}

function mayBeAdmitted(store: Store, prefix: string, batch: string, ordinal: string): boolean {
  const key = `${prefix}:b:${batch}`;
  if (store.hget(key, 'cancelled') !== null || store.hget(key, 'state') === 'done') return false;
  return store.getbit(`${key}:counted`, Number(ordinal)) === 0;
}

function isCurrent(
  { store, prefix, followers }: Ledger,
  { key, bucket, expected, followers: seen }: Change,
): boolean {
  const current = store.get(`${prefix}:o:${key}`);
  const version = current === null ? 0 : Number(versionOf(current));
  const isFree = version !== 0 || store.hget(`${prefix}:s:${bucket}`, key) === null;
  const isSeen = seen === undefined || seen === (store.hget(followers, key) ?? '');
  return version === expected && isFree && isSeen;
}

function versionOf(entry: string): string {
  return entry.slice(0, entry.indexOf(':'));
}

/** A dead letter that an order corrects. */
type Taken = {
  batch: string;
  ordinal: string;
  number: string;
  key: string;
  bucket: string;
  tombstone: string;
  isBefore: boolean;
};

const DEAD = ['conflict', 'refused', 'failed'];

function entryOf({ store, prefix }: Pick<Ledger, 'store' | 'prefix'>, one: Taken) {
  const text = one.number === '' ? null : store.get(`${prefix}:o:${one.key}`);
  if (text === null) return undefined;
  const entry = JSON.parse(text.slice(text.indexOf(':') + 1)) as {
    batch?: string;
    ordinal?: number;
    state?: string;
    batchNo?: number;
    digest?: string;
  };
  const isOwn = entry.batch === one.batch && String(entry.ordinal) === one.ordinal;
  return { ...entry, isOwn };
}

function takerOf(
  { store, prefix }: Pick<Ledger, 'store' | 'prefix'>,
  { batch, ordinal }: Pick<Taken, 'batch' | 'ordinal'>,
): string | undefined {
  const by = store.hget(`${prefix}:b:${batch}:taken`, ordinal)?.split(' ')[0] ?? '';
  const state = by === '' ? null : store.hget(`${prefix}:b:${by}`, 'state');
  return state === null || state === 'done' ? undefined : by;
}

function isBeingCorrected(ledger: Ledger, number: string, batch: string): boolean {
  return (ledger.store.hget(ledger.waiting, number) ?? '').split('\n').some((mark) => {
    const [of = '', ordinal = ''] = mark.split('/');
    const by = takerOf(ledger, { batch: of, ordinal });
    return by !== undefined && by !== batch;
  });
}

type Taker = { batch: string; key: string; number: string };

function isFree(ledger: Pick<Ledger, 'store' | 'prefix'>, one: Taken, taker: Taker): boolean {
  const { store, prefix } = ledger;
  const of = `${prefix}:b:${one.batch}`;
  const by = store.hget(`${of}:taken`, one.ordinal)?.split(' ')[0];
  if (by === taker.batch) return true;
  if (store.hget(`${of}:closed`, one.ordinal) !== null || takerOf(ledger, one)) return false;
  if (one.key === taker.key) return true;
  const entry = entryOf(ledger, one);
  if (entry === undefined || DEAD.includes(entry.state ?? '')) return true;
  return !entry.isOwn && (entry.batchNo ?? 0) <= Number(store.hget(of, 'no') ?? 0);
}

function wasSentSince(
  { store, prefix }: Pick<Ledger, 'store' | 'prefix'>,
  { number, key, bucket, batch }: Taken,
): boolean {
  const compact = number === '' ? null : store.hget(`${prefix}:s:${bucket}`, key);
  const at = /^.{16}\w*\.(\w*)/.exec(compact ?? '')?.[1] ?? '';
  const last = Number(store.hget(`${prefix}:b:${batch}`, 'lastAt') ?? 0);
  return at !== '' && Number.parseInt(at, 36) > last;
}

function takeLetters(
  ledger: Pick<Ledger, 'store' | 'prefix'>,
  letters: readonly Taken[],
  taker: Taker,
): boolean {
  const own = letters.filter(({ isBefore }) => !isBefore);
  if (letters.some((one) => one.isBefore && wasSentSince(ledger, one))) return false;
  if (!own.every((one) => isFree(ledger, one, taker))) return false;
  for (const { batch, ordinal } of own)
    if (batch !== taker.batch)
      ledger.store.hset(
        `${ledger.prefix}:b:${batch}:taken`,
        ordinal,
        `${taker.batch} ${taker.number}`,
      );
  return true;
}

function endNumber(ledger: Pick<Ledger, 'store' | 'prefix'>, one: Taken): void {
  const { store, prefix } = ledger;
  const entry = entryOf(ledger, one);
  const isDead = entry?.state === 'refused' || entry?.state === 'failed';
  const isSame = entry?.isOwn || entry?.digest === one.tombstone.slice(0, 16);
  if (entry !== undefined && !(isSame && isDead)) return;
  store.del(`${prefix}:o:${one.key}`);
  store.hsetnx(`${prefix}:s:${one.bucket}`, one.key, one.tombstone);
}

function endLetters(
  { store, prefix, waiting }: Pick<Ledger, 'store' | 'prefix' | 'waiting'>,
  letters: readonly Taken[],
  { key, closing, isThere }: { key: string; closing: string; isThere: boolean },
): void {
  for (const one of letters) {
    const { batch, ordinal, number, isBefore } = one;
    if (!isBefore) {
      closeLettersOf(
        store,
        prefix,
        waiting,
        number,
        closing,
        (of, at) => of === batch && at === ordinal,
      );
      closeLetter(store, prefix, batch, ordinal, closing);
    }
    if (isThere && number !== '' && one.key !== key) endNumber({ store, prefix }, one);
  }
}

function settle(
  ledger: Ledger,
  tallies: Tallies,
  change: Change & Required<Pick<Change, 'outcome'>>,
): void {
  const { store, prefix } = ledger;
  const { key, number, batch, outcome, result, needsPerson = false, closing, followers } = change;
  const [ordinal, at] = [`${change.ordinal}`, `${change.at}`];
  if (closing) closeBefore(ledger, change, closing);
  const isThere = outcome === 'accepted' || outcome === 'duplicate';
  if (change.ending)
    endLetters(ledger, change.from ?? [], { key, closing: change.ending, isThere });
  if (change.seen) store.hset(`${prefix}:seen`, ...change.seen);
  const isFirst = tallies.count(number, batch, ordinal, outcome, needsPerson, at);
  if (isFirst && result) store.hset(`${prefix}:b:${batch}:results`, ordinal, result);
  settleFollowers(ledger, tallies, { key, number }, followers !== undefined, at);
}

/** All but dead letters of other content that came after the order that was accepted, or was compared with it. */
function closeBefore(
  { store, prefix, waiting }: Ledger,
  { number, batch, ordinal }: Change,
  closing: string,
): void {
  const no = Number(store.hget(`${prefix}:b:${batch}`, 'no') ?? 0);
  closeLettersOf(store, prefix, waiting, number, closing, (of, at) => {
    const key = `${prefix}:b:${of}`;
    const ofNo = Number(store.hget(key, 'no') ?? 0);
    const isLater = ofNo > no || (ofNo === no && Number(at) > ordinal);
    const { outcome = 'invalid', against } = resultOf(store.hget(`${key}:results`, at));
    return !((outcome === 'conflict' || outcome === 'invalid') && (isLater || against === no));
  });
}

function settleFollowers(
  { store, prefix, followers }: Ledger,
  tallies: Tallies,
  { key, number }: Pick<Change, 'key' | 'number'>,
  passesOn: boolean,
  at: string,
): void {
  const marks = store.hget(followers, key);
  if (marks === null) return;
  const [, ...rest] = marks.split('\t');
  if (passesOn && rest.length > 0) store.hset(followers, key, rest.join('\t'));
  else store.hdel(followers, key);
  if (passesOn) return;
  for (const mark of marks.split('\t')) {
    const [no = '', ordinal = ''] = mark.split('/');
    const batch = store.hget(`${prefix}:batch-names`, no);
    if (batch !== null) tallies.count(number, batch, ordinal, 'duplicate', false, at);
  }
}

function closeLettersOf(
  store: Store,
  prefix: string,
  waiting: string,
  number: string,
  closing: string,
  closes: (batch: string, ordinal: string) => boolean,
): number {
  const letters = store.hget(waiting, number);
  if (letters === null) return 0;
  let closed = 0;
  const left = letters.split('\n').filter((letter) => {
    const [batch = '', ordinal = ''] = letter.split('/');
    if (!closes(batch, ordinal)) return true;
    closed += closeLetter(store, prefix, batch, ordinal, closing);
    return false;
  });
  if (left.length === 0) store.hdel(waiting, number);
  else store.hset(waiting, number, left.join('\n'));
  return closed;
}

function closeLetter(
  store: Store,
  prefix: string,
  batch: string,
  ordinal: string,
  closing: string,
): 0 | 1 {
  const key = `${prefix}:b:${batch}`;
  if (store.hsetnx(`${key}:closed`, ordinal, closing) === 0) return 0;
  if (store.hget(key, 'batch') !== null) store.hincrby(key, 'open', -1);
  return 1;
}

function resultOf(result: string | null): { outcome?: unknown; against?: unknown } {
  return JSON.parse(result ?? '{}') as { outcome?: unknown; against?: unknown };
}

type Tallies = ReturnType<typeof openTallies>;

/** Counts outcomes of orders for their batches, each order once. */
function openTallies(store: Store, prefix: string, waiting: string, finished: string) {
  const tallies = new Map<string, { isDone: boolean; counted: number }>();

  function tallyOf(batch: string): { isDone: boolean; counted: number } {
    const key = `${prefix}:b:${batch}`;
    const tally = tallies.get(batch) ?? { isDone: store.hget(key, 'state') === 'done', counted: 0 };
    tallies.set(batch, tally);
    return tally;
  }

  function count(
    number: string,
    batch: string,
    ordinal: string,
    outcome: string,
    needsPerson: boolean,
    at: string,
  ): boolean {
    const tally = tallyOf(batch);
    const key = `${prefix}:b:${batch}`;
    if (tally.isDone || store.setbit(`${key}:counted`, Number(ordinal)) === 1) return false;
    tally.counted += 1;
    store.hincrby(key, `n:${outcome}`, 1);
    store.hset(key, 'lastAt', at);
    if (!needsPerson) return true;
    store.hincrby(key, 'open', 1);
    if (number !== '') mark(store, waiting, number, `${batch}/${ordinal}`);
    return true;
  }

  function write(): void {
    for (const [batch, { counted }] of tallies) {
      if (counted === 0) continue;
      const key = `${prefix}:b:${batch}`;
      finishBatch(store, key, finished, batch, store.hincrby(key, 'counted', counted));
    }
  }

  return { count, write };
}

function mark(store: Store, key: string, number: string, what: string): void {
  const waiting = store.hget(key, number);
  store.hset(key, number, waiting === null ? what : `${waiting}\n${what}`);
}

function finishBatch(
  store: Store,
  batchKey: string,
  finished: string,
  batch: string,
  counted: number,
): void {
  const all = store.hget(batchKey, 'total');
  if (all !== null && counted >= Number(all)) store.members(finished).add(batch);
}

/** What is known of each number: its entry, or `=` and the compact entry. */
export const lookup: Port = (store, _, [prefix = '', ...asked]) =>
  asked.flatMap((number, i) => {
    if (i % 2 === 1) return [];
    const compact = store.hget(`${prefix}:s:${asked[i + 1]}`, number);
    return [store.get(`${prefix}:o:${number}`) ?? (compact === null ? null : `=${compact}`)];
  });

/** The batches that are not done, and the orders that wait. */
export const underWay: Port = (store, [active = '', ...sets], [prefix = '', most = '']) => [
  [...store.members(active)].map((batch) => [...store.fields(`${prefix}:b:${batch}`)].flat()),
  ...sets.flatMap((set) => [
    store.zcard(set),
    store
      .ranked(set)
      .slice(0, Number(most))
      .flatMap(([member, score]) => [member, String(score)]),
  ]),
];

/** As named at the head of `count.lua`. */
type Counted = {
  ordinal: number;
  number: string;
  key: string;
  outcome: string;
  needsPerson?: true;
  result?: string;
  from?: Taken[];
  ending?: string;
  seen?: [string, string];
  shown?: string;
};

export const count: Port = (
  store,
  [waiting = '', finished = '', identity = '', own = ''],
  args,
) => {
  const [prefix = '', at = '', batch = '', outdated = '', source = '', made = '', ...orders] = args;
  const tallies = openTallies(store, prefix, waiting, finished);
  const no = Number(store.hget(`${prefix}:b:${batch}`, 'no') ?? 0);
  const isOlder = (other: string) => {
    const of = store.hget(`${prefix}:b:${other}`, 'no');
    const from = store.hget(`${prefix}:b:${other}`, 'source');
    return of !== null && Number(of) < no && (source === '' || from === source);
  };
  let fresh = 0;
  for (const text of orders) {
    const {
      from = [],
      needsPerson = false,
      seen,
      shown,
      ending,
      ...one
    } = JSON.parse(text) as Counted;
    const { number, key } = one;
    const ordinal = String(one.ordinal);
    const isTaken = takeLetters({ store, prefix }, from, { batch, key, number });
    const own = { outcome: one.outcome, isDead: needsPerson, result: one.result };
    const end =
      isTaken || own.outcome === 'duplicate'
        ? { ...own, letters: isTaken ? from : [] }
        : { outcome: 'cancelled', isDead: false, result: outdated, letters: [] };
    if (!tallies.count(number, batch, ordinal, end.outcome, end.isDead, at)) continue;
    fresh += 1;
    const isThere = end.outcome === 'duplicate';
    if (ending)
      endLetters({ store, prefix, waiting }, end.letters, { key, closing: ending, isThere });
    if (shown) closeLettersOf(store, prefix, waiting, number, shown, isOlder);
    if (end.isDead && seen) store.hset(`${prefix}:seen`, ...seen);
    if (end.result) store.hset(`${prefix}:b:${batch}:results`, ordinal, end.result);
  }
  tallies.write();
  return [...noteChanges(store, [identity, own], made, fresh), fresh];
};

function noteChanges(
  store: Store,
  [identity = '', own = '']: readonly string[],
  made: string,
  changes: number,
): [number, number] {
  const sequence =
    changes > 0
      ? store.hincrby(identity, 'sequence', changes)
      : Number(store.hget(identity, 'sequence') ?? 0);
  const mine = made === '' ? 0 : Number(store.get(own) ?? 0);
  if (made === '' || changes === 0 || mine < Number(made)) return [sequence, mine];
  store.set(own, String(mine + changes));
  return [sequence, mine + changes];
}

export const follow: Port = (
  store,
  [followers = '', identity = '', own = ''],
  [prefix = '', made = '', ...args],
) => {
  const done: number[] = [];
  for (let i = 0; i < args.length; i += 7) {
    const [
      number = '',
      version = '',
      what = '',
      batch = '',
      ordinal = '',
      isOwn = '',
      result = '',
    ] = args.slice(i, i + 7);
    if (store.hget(`${prefix}:batch-names`, what.slice(0, what.indexOf('/'))) !== batch) {
      done.push(-1);
      continue;
    }
    const current = store.get(`${prefix}:o:${number}`);
    const isCurrentEntry = current !== null && versionOf(current) === version;
    done.push(isCurrentEntry && mayBeAdmitted(store, prefix, batch, ordinal) ? 1 : 0);
    if (done.at(-1) === 0) continue;
    const marks = store.hget(followers, number)?.split('\t') ?? [];
    const [no = '', at = ''] = what.split('/');
    const isNew = !marks.some((one) => one.startsWith(`${no}/${at}/`));
    if (isNew) store.hset(followers, number, [...marks, what].join('\t'));
    const isSecond = isNew && marks.some((one) => one.startsWith(`${no}/`));
    if (isOwn === '1' || isSecond) store.hset(`${prefix}:b:${batch}:results`, ordinal, result);
  }
  const changes = done.filter((one) => one === 1).length;
  return [...noteChanges(store, [identity, own], made, changes), ...done];
};

export const unfollow: Port = (
  store,
  [followers = '', waiting = '', finished = '', identity = ''],
  args,
) => {
  const [prefix = '', at = '', batch = '', no = '', result = '', ...numbers] = args;
  const tallies = openTallies(store, prefix, waiting, finished);
  let fresh = 0;
  for (const number of numbers) {
    const marks = store.hget(followers, number)?.split('\t') ?? [];
    const left = marks.filter((one) => !one.startsWith(`${no}/`));
    for (const one of marks.filter((all) => all.startsWith(`${no}/`))) {
      const [, ordinal = ''] = one.split('/');
      if (tallies.count(number, batch, ordinal, 'cancelled', false, at)) fresh += 1;
      store.hset(`${prefix}:b:${batch}:results`, ordinal, result);
    }
    if (left.length === 0) store.hdel(followers, number);
    else store.hset(followers, number, left.join('\t'));
  }
  tallies.write();
  if (fresh > 0) store.hincrby(identity, 'sequence', fresh);
  return fresh;
};

export const begin: Port = (store, keys, [batch = '', at = '', ...fields]) => {
  const [key = '', counter = '', names = '', batches = '', active = ''] = keys;
  if (store.hget(key, 'batch') !== null) return 0;
  const no = String(Number(store.get(counter) ?? 0) + 1);
  store.set(counter, no);
  store.hset(key, 'no', no);
  for (let i = 0; i < fields.length; i += 2) store.hset(key, fields[i] ?? '', fields[i + 1] ?? '');
  store.hset(names, no, batch);
  store.zadd(batches, Number(at), batch);
  store.members(active).add(batch);
  return 1;
};

export const hold: Port = (
  store,
  [key = '', held = ''],
  [batch = '', seen = '', text = '', alike = ''],
) => {
  if (store.hget(key, 'state') === 'done' || (store.hget(key, 'released') ?? '') !== seen)
    return -1;
  const fresh = store.hsetnx(key, 'held', text);
  if (fresh === 1) store.hset(key, 'heldFor', alike);
  store.members(held).add(batch);
  return fresh;
};

export const total: Port = (store, keys, [asked = '']) => {
  const [batchKey = '', finished = '', identity = '', own = ''] = keys;
  const {
    batch,
    total: all,
    since,
    sequence,
    made = 0,
    unreadable,
  } = JSON.parse(asked) as {
    batch: string;
    total: number;
    since: string;
    sequence: number;
    made?: number;
    unreadable?: string;
  };
  const isBehind =
    Number(store.hget(identity, 'sequence') ?? 0) < sequence || Number(store.get(own) ?? 0) < made;
  if (since !== '' && (store.hget(identity, 'epoch') !== since || isBehind)) return -1;
  if (store.hget(batchKey, 'state') === 'done') return Number(store.hget(batchKey, 'counted') ?? 0);
  store.hset(batchKey, 'total', `${all}`);
  store.hset(batchKey, 'state', 'open');
  if (unreadable) store.hset(batchKey, 'unreadable', unreadable);
  const counted = Number(store.hget(batchKey, 'counted') ?? 0);
  finishBatch(store, batchKey, finished, batch, counted);
  return counted;
};

export const adopt: Port = (
  store,
  [open = '', settled = '', identity = ''],
  [number = '', compact = ''],
) => {
  if (store.get(open) !== null || store.hsetnx(settled, number, compact) === 0) return 0;
  store.hincrby(identity, 'sequence', 1);
  return 1;
};

export const closeDeadLetters: Port = (store, keys, args) => {
  const [open = '', settled = '', due = '', doubt = '', waiting = '', identity = '', actions = ''] =
    keys;
  const [prefix = '', number = '', key = '', batch = '', version = '', compact = '', ...rest] =
    args;
  const [closing = '', ...more] = rest;
  const [action = '', seen = '', ordinal = ''] = more;
  const entry = store.get(open);
  const current = entry === null ? '0' : versionOf(entry);
  if (seen !== '' && current !== seen) return -1;
  if (version !== '') {
    if (current !== version) return -1;
    store.del(open);
    store.zrem(due, key);
    store.zrem(doubt, key);
    if (compact !== '') store.hset(settled, key, compact);
    store.hincrby(identity, 'sequence', 1);
  }
  if (number === '') return closeLetter(store, prefix, batch, ordinal, closing);
  if (action !== '') store.list(actions).push(action);
  return closeLettersOf(
    store,
    prefix,
    waiting,
    number,
    closing,
    (of, at) => of === batch && at === ordinal,
  );
};
