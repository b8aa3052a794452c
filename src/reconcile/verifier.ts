import type { ListEnd, ListedOrder } from '../api/list.ts';
import { listedOf } from '../ledger/adopt.ts';
import type { Answer, Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { mayBeThere } from '../ledger/state-machine/decision.ts';
import { next } from '../ledger/state-machine/next.ts';
import type { LedgerEvent, ListEvent, Policy, Step } from '../ledger/state-machine/step.ts';
import { doubtSettled, listRead, orderCreatedTwice, orderDead } from '../log/events/delivery.ts';
import type { Log } from '../log/log.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/time.ts';
import type { Canaries } from './canaries.ts';
import {
  type Canary,
  collectRows,
  type Evidence,
  judgeEvidence,
  type ListSight,
  witnessOf,
} from './evidence.ts';
import { withListLease } from './list-lease.ts';
import { createListNews, listState, paceLists } from './list-pace.ts';
import { type ListProof, unprovedBy } from './list-proof.ts';

type VerifierDeps = {
  store: { redis: Redis; keys: Keys; time: RedisTime };
  ledger: Ledger;
  owner: string;
  policy: Policy;
  log: Log;
  canaries: Canaries;
  delivery: {
    /** The list showed whether an order in doubt was created. */
    onVerdict(entry: Entry, wasCreated: boolean): Promise<void>;
    /** The API takes no order at all. */
    isAway(): boolean;
  };
  proof: Pick<ListProof, 'read' | 'rules'>;
};

/** Maximum number of orders in doubt that one read of the list answers; the others wait for the next. */
const MOST = 10_000;

/** As many lists as it takes: a process that watched for a settle has read them. */
const ENOUGH = Number.MAX_SAFE_INTEGER;

/** One read of the list, as far as it concerns the orders in question. */
type Reading = {
  listedFrom: number;
  end: ListEnd;
  /** Every row of a number in question: one that occurs twice was created twice. */
  rows: ReadonlyMap<string, readonly ListedOrder[]>;
  /** Numbers in question that the list shows in another spelling only, and how. */
  respelled: ReadonlyMap<string, string>;
  evidence: Evidence | undefined;
  settle: number;
  canaries: readonly Canary[];
  /** This process has watched ledger time for a settle: a wait is as long as it seems. */
  isWatched: boolean;
  /** Inconclusive lists in a row, including this one. */
  unclear: number;
  /** Delivery is paused, and other orders wait for its end: one of them tests whether the API is back. */
  isAway: boolean;
};

/**
 * Asks the API's list about orders in doubt: one read for all that wait, never two at a time over all daemons. It pauses
 * ten times as long as a read took; while reads fail, the pauses grow up to a settle.
 */
export function createVerifier(input: VerifierDeps) {
  const { ledger, owner, store } = input;
  const deps = { ...input, isNews: createListNews(store.time.now) };
  const { time } = store;

  /** One round, if an order is due. */
  async function tick(): Promise<void> {
    const due = await ledger.numbersDue('doubt', time.now(), MOST);
    if (due.length === 0 || time.now() < (await listState(store)).nextAt) return;
    await withListLease(store, owner, () => verify(deps, due));
  }

  return { tick };
}

/** A verifier, and whether a list with this outcome is worth a line in the log. */
type Verifying = VerifierDeps & { isNews(outcome: string): boolean };

async function verify(deps: Verifying, inDoubt: readonly string[]): Promise<void> {
  // What the API stored after two lists lacked it must not be sent again only because no other attempt was in doubt.
  const dueAgain = await deps.ledger.numbersDue('due', Number.MAX_SAFE_INTEGER, MOST);
  const reading = await read(deps, inDoubt, dueAgain);
  const numbers = [...inDoubt, ...dueAgain.filter((number) => reading.rows.has(number))];
  for (const one of await deps.ledger.lookup(numbers)) {
    if (one.kind !== 'open' || !mayBeThere(one.entry) || one.entry.state === 'inDoubt') continue;
    const proof = await absenceProof(deps, one.entry, reading);
    const event = eventFor(one.entry, reading, proof, deps.store.time.now());
    const isSending = deps.ledger.inFlight.has(one.entry.order.purchaseOrderNumber);
    if (event.kind === 'found' || !isSending) await apply(deps, one.entry, event, proof);
  }
}

async function read(
  deps: Verifying,
  numbers: readonly string[],
  others: readonly string[],
): Promise<Reading> {
  const { time } = deps.store;
  await time.sync();
  const listedFrom = time.now();
  const isWatched = time.watched() >= deps.policy.settle;
  await deps.canaries.flush();
  const canaries = await deps.canaries.all();
  const wanted = new Set([...numbers, ...others, ...canaries.map(({ number }) => number)]);
  const { rows, respelled, take } = collectRows(numbers, wanted);
  const end = await deps.proof.read(take);
  const durationMs = time.now() - listedFrom;
  await paceLists(deps.store, deps.policy.settle, { end, durationMs });
  const sight = { listedFrom, settle: deps.policy.settle, canaries, listed: new Set(rows.keys()) };
  const evidence = end.kind === 'complete' ? await judge(deps, sight) : undefined;
  const isNews = deps.isNews(`${end.kind} ${evidence?.kind ?? ''}`);
  const reason = end.kind === 'complete' ? {} : { reason: end.said.message };
  listRead(
    deps.log,
    { orders: rows.size, asked: numbers.length, durationMs, outcome: end.kind, ...reason },
    isNews,
  );
  const isAway = deps.delivery.isAway() && (await deps.ledger.nextDue('due')) !== undefined;
  const unclear = await countUnclear(deps, evidence);
  return { ...sight, end, rows, respelled, evidence, isWatched, unclear, isAway };
}

async function judge(
  { canaries, ledger, store, proof }: VerifierDeps,
  sight: Omit<ListSight, 'underWay' | 'agedUntil' | 'unproved'>,
): Promise<Evidence> {
  await canaries.age(sight);
  const unproved = await unprovedBy(store, proof.rules.mode);
  const underWay = (await ledger.nextDue('due')) !== undefined;
  return judgeEvidence({ ...sight, underWay, unproved, agedUntil: await canaries.agedUntil() });
}

async function countUnclear(
  { store }: VerifierDeps,
  evidence: Evidence | undefined,
): Promise<number> {
  const { redis, keys } = store;
  if (evidence?.kind !== 'good') return redis.hincrby(keys.verification, 'unclear', 1);
  await redis.hdel(keys.verification, 'unclear');
  return 0;
}

/** Whether a list that lacks an order shows one that was created after it; `alone`: none is known. */
type AbsenceProof = 'yes' | 'alone' | 'no';

/**
 * A list that lacks an order must show one that was created after it. Where none was, one order is sent
 * again: it shows the others whether the list begins to be cut just here.
 */
async function absenceProof(
  { ledger, proof, store, policy }: VerifierDeps,
  entry: Entry,
  reading: Reading,
): Promise<AbsenceProof> {
  if (proof.rules.mode !== 'prove' || reading.evidence?.kind !== 'good') return 'yes';
  switch (witnessOf(reading, entry.maybeSentAt ?? 0)) {
    case 'shown':
      return 'yes';
    case 'young':
      return 'no';
    case 'none': {
      const { redis, keys, time } = store;
      const due = await ledger.nextDue('due');
      const isNext = due === undefined || due > time.now() + policy.settle;
      const sentAlone = Number((await redis.hget(keys.verification, 'sentAlone')) ?? 0);
      const newest = Math.max(0, ...reading.canaries.map(({ since }) => since));
      return isNext && sentAlone <= newest ? 'alone' : 'no';
    }
  }
}

/** What this list says about one order in doubt. */
function eventFor(entry: Entry, reading: Reading, proof: AbsenceProof, at: number): ListEvent {
  const {
    listedFrom,
    end,
    rows,
    respelled,
    evidence,
    isWatched,
    unclear: inARow,
    isAway,
  } = reading;
  const shown = rows.get(entry.order.purchaseOrderNumber);
  if (shown) return foundIn(shown, entry, at);
  const other = respelled.get(entry.order.purchaseOrderNumber);
  if (other !== undefined) return { kind: 'unlistable', at, answer: otherSpelling(other) };
  if (end.kind === 'unavailable') return { kind: 'unlistable', at, answer: ofList(end.said) };
  const { maybeSentAt = 0, firstAt = maybeSentAt } = entry;
  const isGood = evidence?.kind === 'good' && proof !== 'no';
  // It may have been created as soon as its first attempt began.
  if (isGood && firstAt > evidence.reaches)
    return { kind: 'absent', at, listedFrom, needed: evidence.needed, isWatched };
  const answer =
    end.kind === 'complete' ? unclearAnswer(evidence, proof !== 'no') : ofList(end.said);
  // A list that is good for other orders only does not end the series for this one.
  const lists = evidence?.kind !== 'good' ? inARow : isWatched ? ENOUGH : 0;
  return { kind: 'inconclusive', at, listedFrom, inARow: lists, answer, isAway };
}

/** The list's own failure, which must not read as the answer to the order. */
function ofList(said: Answer): Answer {
  return { ...said, message: `the API's list cannot be read: ${said.message}` };
}

async function apply(
  deps: VerifierDeps,
  entry: Entry,
  event: LedgerEvent,
  proof: AbsenceProof,
): Promise<void> {
  const { ledger, log, policy, delivery, store } = deps;
  const step = next(entry, event, policy);
  const isSentAgain = step.kind === 'move' && step.entry.state === 'retry';
  // Before it is sent: the next one waits for an order that is accepted since.
  if (proof === 'alone' && isSentAgain)
    await store.redis.hset(store.keys.verification, { sentAlone: store.time.now() });
  const times = step.kind === 'accept' ? step.times : undefined;
  if (times) await ledger.listedTwice.add(entry.order.purchaseOrderNumber, times);
  if (!(await ledger.take(entry, step))) return;
  const { batch, order } = entry;
  const { purchaseOrderNumber: number } = order;
  const outcome = outcomeOf(step);
  if (step.kind === 'accept') await delivery.onVerdict(entry, true);
  // Only once enough lists agree; the sweeper hands out the retry when it is due.
  if (event.kind === 'absent' && outcome !== 'unknown') await delivery.onVerdict(entry, false);
  if (step.kind === 'dead')
    orderDead(log, { batch, order: number, outcome, reason: step.entry.answer?.message ?? '' });
  else if (outcome !== 'unknown')
    doubtSettled(log, { batch, order: number, outcome }, { of: entry, at: event.at });
  if (times) orderCreatedTwice(log, { batch, order: number, times });
}

/** The row with our content wins over another row of the number. */
function foundIn(rows: readonly ListedOrder[], { digest }: Entry, at: number): ListEvent {
  const all = rows.map(listedOf);
  const listed = all.find((one) => one.digest === digest) ?? all[0];
  if (listed === undefined) throw new Error('no row');
  return { kind: 'found', at, listed, times: rows.length };
}

function outcomeOf(step: Step): string {
  switch (step.kind) {
    case 'accept':
      return 'accepted';
    case 'move':
    case 'dead':
      return step.entry.state;
    case 'cancel':
    case 'drop':
    case 'ignore':
      return '';
  }
}

/** Why a complete list does not show whether an order is absent. */
function unclearAnswer(evidence: Evidence | undefined, isSeen: boolean): Answer {
  if (evidence?.kind === 'good' && !isSeen) return unclearAnswer({ kind: 'early' }, true);
  switch (evidence?.kind) {
    case 'bad':
      return {
        code: 'list-incomplete',
        message: `the API's list lacks order ${evidence.missing}, which it must contain, so it proves nothing`,
      };
    case 'unproved':
      return {
        code: evidence.by.code,
        message: "the API's list is not proved complete, so it does not show what is absent",
      };
    case 'good':
      return {
        code: 'list-too-short',
        message: "the API's list no longer shows orders as old as this one",
      };
    case 'early':
    case undefined:
      return {
        code: 'list-unproven',
        message: "no accepted order is old enough to show that the API's list is complete",
      };
  }
}

function otherSpelling(number: string): Answer {
  return { code: 'other-number', message: `the list shows this number as "${number}" only` };
}
