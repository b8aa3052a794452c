import type { ListEnd, ListedOrder } from '../api/list.ts';
import { listedOf } from '../ledger/adopt.ts';
import type { Answer, Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ABSENCES, PATIENCE } from '../ledger/state-machine/after-list.ts';
import { mayBeThere } from '../ledger/state-machine/decision.ts';
import { next } from '../ledger/state-machine/next.ts';
import {
  isSendable,
  type ListEvent,
  type Policy,
  type Step,
} from '../ledger/state-machine/step.ts';
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
  isCut,
  type ListSight,
  reachOf,
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
  proof: Pick<ListProof, 'read' | 'rules' | 'sawCut' | 'sawKind'>;
};

/** Maximum number of orders in doubt that one read of the list answers; the others wait for the next. */
const MOST = 10_000;

/** As many lists as it takes: a process that watched for a settle has read them. */
const ENOUGH = Number.MAX_SAFE_INTEGER;

/** One read of the list, as far as it concerns the orders in question. */
type Reading = {
  listedFrom: number;
  end: ListEnd;
  /** Every row of an order in question, by its key: one that occurs twice was created twice. */
  rows: ReadonlyMap<string, readonly ListedOrder[]>;
  shown(number: string): readonly ListedOrder[] | undefined;
  evidence: Evidence | undefined;
  settle: number;
  canaries: readonly Canary[];
  listed: ReadonlySet<string>;
  witness: Witness;
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
  const asked = [...inDoubt, ...dueAgain.filter((key) => reading.rows.has(key))];
  for (const one of await deps.ledger.lookup(asked)) {
    if (one.kind !== 'open' || !mayBeThere(one.entry) || one.entry.state === 'inDoubt') continue;
    const decision = await decide(deps, one.entry, reading);
    const isSending = deps.ledger.inFlight.has(one.entry.order.purchaseOrderNumber);
    if (decision.event.kind === 'found' || !isSending)
      await apply(deps, one.entry, reading, decision);
  }
}

async function read(
  deps: Verifying,
  inDoubt: readonly string[],
  others: readonly string[],
): Promise<Reading> {
  const { time, keys } = deps.store;
  await time.sync();
  const listedFrom = time.now();
  const isWatched = time.watched() >= deps.policy.settle;
  await deps.canaries.flush();
  const witness = await readWitness(deps);
  const canaries = [...(await deps.canaries.all()), ...witness.canary];
  const wanted = new Set([...inDoubt, ...others]);
  const { rows, listed, take } = collectRows(wanted, canaries, keys.keyOf);
  const end = await deps.proof.read(take);
  const durationMs = time.now() - listedFrom;
  await paceLists(deps.store, deps.policy.settle, { end, durationMs });
  const sight = { listedFrom, settle: deps.policy.settle, canaries, listed };
  const evidence = end.kind === 'complete' ? await judge(deps, sight) : undefined;
  const isNews = deps.isNews(`${end.kind} ${evidence?.kind ?? ''}`);
  const reason = end.kind === 'complete' ? {} : { reason: end.said.message };
  listRead(
    deps.log,
    { orders: rows.size, asked: inDoubt.length, durationMs, outcome: end.kind, ...reason },
    isNews,
  );
  const isAway = deps.delivery.isAway() && (await deps.ledger.nextDue('due')) !== undefined;
  const unclear = await countUnclear(deps, evidence);
  const shown = (number: string) => rows.get(keys.keyOf(number));
  return { ...sight, end, rows, shown, evidence, witness, isWatched, unclear, isAway };
}

async function judge(
  { canaries, store, proof }: VerifierDeps,
  sight: Omit<ListSight, 'agedUntil' | 'unproved'>,
): Promise<Evidence> {
  const unproved = await unprovedBy(store, proof.rules.mode);
  const evidence = await canaries.judge({ ...sight, unproved });
  if (evidence.kind !== 'unproved') proof.sawCut(isCut(sight, evidence));
  if (evidence.kind === 'good' && evidence.reaches > 0) proof.sawKind('archive');
  return evidence;
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

/** The one order in doubt that is sent again to show how far the list reaches, until the list has shown it. */
type Witness = {
  /** When it was chosen, and its number, as it is stored; '' before the first one. */
  text: string;
  number: string;
  /** When it was sent, where it is accepted; otherwise 0. */
  since: number;
  /** It was created: a complete list must show it. */
  canary: readonly Canary[];
  /** The API may have it twice: no other one is sent. */
  isOpen: boolean;
  /** It is still tried: the others wait for what it shows. */
  isTried: boolean;
  /** No other order is about to be sent, which would show as much. */
  isNeeded: boolean;
};

async function readWitness({ ledger, store, policy }: VerifierDeps): Promise<Witness> {
  const { redis, keys, time } = store;
  const now = time.now();
  const text = (await redis.hget(keys.listProof, 'witness')) ?? '';
  const due = await ledger.nextDue('due');
  const isNeeded = due === undefined || due > now + policy.settle;
  const number = text.slice(text.indexOf(' ') + 1);
  const [known] = text === '' ? [] : await ledger.lookup([number]);
  const since = known?.kind === 'accepted' ? Number.parseInt(text, 10) : 0;
  const isCreated = known?.kind === 'accepted' && known.compact.since !== undefined;
  const canary = isCreated ? [{ number, since }] : [];
  const entry = known?.kind === 'open' ? known.entry : undefined;
  // The last attempt of one that the API refused created nothing.
  const isOpen = entry !== undefined && entry.refusal === undefined;
  return {
    text,
    number,
    since,
    canary,
    isOpen,
    isTried: isOpen && isTried(entry, now, policy),
    isNeeded,
  };
}

/** It changes as it is sent and looked up; one whose file a person holds does not. */
function isTried(entry: Entry, now: number, { backoff, settle }: Policy): boolean {
  const isInProgress = isSendable(entry) || entry.state === 'sending' || entry.state === 'unknown';
  return isInProgress && now < entry.version + backoff(entry.used) + PATIENCE * settle;
}

/** Once so many answers were lost, each of which may hide that it was created, an order is not sent alone again. */
const MOST_LOST = 2;

/**
 * Whether an order in doubt may be sent, with no other one, although the list may hide it: the API did not say that it has it.
 * `since`: when it was first chosen for that.
 */
function maySendAlone({ answer, history = [] }: Entry, since: number): boolean {
  if (answer?.httpStatus !== undefined) return answer.httpStatus >= 300;
  const lost = history.filter(({ at, httpStatus }) => at >= since && httpStatus === undefined);
  return lost.length < MOST_LOST;
}

/** What a list says about an order, what follows, and whether the order is sent to show how far the list reaches. */
type Decision = { event: ListEvent; step: Step; isWitness: boolean };

/**
 * A list that lacks an order must show one that was created before it and one after it. Where none was after it, one order is sent
 * again, and no other until the list has shown it: it shows whether the list begins to be cut just here.
 */
async function decide(deps: VerifierDeps, entry: Entry, reading: Reading): Promise<Decision> {
  const { proof, policy, store } = deps;
  const at = store.time.now();
  const by = (isProved: boolean, isAlone?: true) => {
    const said = eventFor(entry, reading, isProved, at);
    const event = isAlone && said.kind === 'absent' ? { ...said, isAlone } : said;
    return { event, step: next(entry, event, policy) };
  };
  const { maybeSentAt: sentAt = 0, firstAt = sentAt } = entry;
  const isSure = proof.rules.mode !== 'prove';
  const reach = isTurnOf(entry, reading)
    ? 'unknown'
    : isSure
      ? 'beyond'
      : reachOf(reading, { firstAt, sentAt });
  const unproved = { ...by(reach === 'beyond'), isWitness: false };
  if (reach !== 'unknown' || unproved.event.kind !== 'inconclusive') return unproved;
  if (!isNext(entry, reading)) return unproved;

  const alone = by(true, true);
  const isSentAgain = alone.step.kind === 'move' && alone.step.entry.state === 'retry';
  if (!isSentAgain || (await isStopped(store, entry))) return unproved;
  return { ...alone, isWitness: true };
}

/** A person stopped the file of the order: it would not be sent. */
async function isStopped(
  { redis, keys }: VerifierDeps['store'],
  { batch }: Entry,
): Promise<boolean> {
  const stopped = await redis.hmget(keys.batch(batch), 'cancelled', 'held');
  return stopped.some((since) => since !== null);
}

/** It is the first order of a new ledger, which the list must show before another one is sent. */
function isTurnOf({ order }: Entry, { evidence }: Reading): boolean {
  return evidence?.kind === 'unproved' && evidence.by.facts.order === order.purchaseOrderNumber;
}

/** It may be sent to show how far the list reaches: when the list has shown the last one that was, or one after it; or again. */
function isNext(entry: Entry, reading: Reading): boolean {
  const { witness, canaries, listed } = reading;
  const { number, text, since, isOpen, isNeeded } = witness;
  const isTurn = isTurnOf(entry, reading);
  const chosenAt = isOpen ? Number.parseInt(text, 10) : Number.POSITIVE_INFINITY;
  if (!(isNeeded || isTurn) || !maySendAlone(entry, chosenAt)) return false;
  if (isOpen) return number === entry.order.purchaseOrderNumber;
  const isShown = (one: Canary) => one.since >= since && listed.has(one.number);
  return isTurn || since === 0 || canaries.some(isShown);
}

/** What this list says about one order in doubt. */
function eventFor(entry: Entry, reading: Reading, isProved: boolean, at: number): ListEvent {
  const { listedFrom, end, evidence, isWatched, unclear: inARow, witness } = reading;
  const { purchaseOrderNumber: number } = entry.order;
  const shown = reading.shown(number);
  if (shown) return foundIn(shown, entry, at);
  if (end.kind === 'unavailable') return { kind: 'unlistable', at, answer: ofList(end.said) };
  const { maybeSentAt = 0, firstAt = maybeSentAt } = entry;
  // Only the last list of those that it takes must prove how far it reaches.
  const reaches = evidence?.kind === 'good' ? evidence.reaches : 0;
  const isGood = evidence?.kind === 'good' || isTurnOf(entry, reading);
  const isAbsent = isGood && (isProved || entry.absences + 1 < ABSENCES);
  // It may have been created as soon as its first attempt began.
  if (isAbsent && firstAt > reaches) return { kind: 'absent', at, listedFrom, isWatched };
  const answer = end.kind === 'complete' ? unclearAnswer(evidence, isProved) : ofList(end.said);
  // A list that is good for other orders only does not end the series for this one.
  const lists = evidence?.kind !== 'good' ? inARow : isWatched ? ENOUGH : 0;
  const waitsForWitness = evidence?.kind === 'good' && witness.isTried && witness.number !== number;
  const isAway = reading.isAway || waitsForWitness;
  return { kind: 'inconclusive', at, listedFrom, inARow: lists, answer, isAway };
}

/** The list's own failure, which must not read as the answer to the order. */
function ofList(said: Answer): Answer {
  return { ...said, message: `the API's list cannot be read: ${said.message}` };
}

async function apply(
  deps: VerifierDeps,
  entry: Entry,
  reading: Reading,
  { event, step, isWitness }: Decision,
): Promise<void> {
  const { ledger, log, delivery, canaries } = deps;
  const times = step.kind === 'accept' ? step.times : undefined;
  if (times) await ledger.listedTwice.add(entry.order.purchaseOrderNumber, times);
  const { batch, order } = entry;
  const { purchaseOrderNumber: number } = order;
  const { text: before, isOpen } = reading.witness;
  const witness = { before, text: isOpen ? before : `${event.at} ${number}` };
  if (!(await ledger.take(entry, step, undefined, isWitness ? { witness } : {}))) return;
  const outcome = outcomeOf(step);
  if (step.kind === 'accept') {
    await canaries.remember(number, entry.firstAt ?? event.at);
    await delivery.onVerdict(entry, true);
  }
  // Only once enough lists agree; the sweeper hands out the retry when it is due.
  if (event.kind === 'absent' && outcome !== 'unknown') await delivery.onVerdict(entry, false);
  if (step.kind === 'dead')
    orderDead(log, { batch, order: number, outcome, reason: step.entry.answer?.message ?? '' });
  else if (outcome !== 'unknown') doubtSettled(log, { batch, order: number, outcome });
  if (times) orderCreatedTwice(log, { batch, order: number, times });
}

/** A row with our number wins over one that spells it in another way, and one with our content over another. */
function foundIn(rows: readonly ListedOrder[], { digest, order }: Entry, at: number): ListEvent {
  const [first] = rows;
  const ours = rows.filter((row) => row.purchaseOrderNumber === order.purchaseOrderNumber);
  const all = ours.map(listedOf);
  const listed = all.find((one) => one.digest === digest) ?? all[0];
  if (listed !== undefined) return { kind: 'found', at, listed, times: ours.length };
  if (first === undefined) throw new Error('no row');
  return { kind: 'found', at, listed: listedOf(first), as: first.purchaseOrderNumber };
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
function unclearAnswer(evidence: Evidence | undefined, isProved: boolean): Answer {
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
    case undefined:
      return isProved
        ? {
            code: 'list-too-short',
            message: "the API's list no longer shows orders as old as this one",
          }
        : {
            code: 'list-unproven',
            message: "no accepted order is old enough to show that the API's list is complete",
          };
  }
}
