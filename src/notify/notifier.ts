import type { Source } from '../config/config.ts';
import { hideQuery } from '../config/show.ts';
import type { Clock } from '../core/clock.ts';
import { type CircuitBreaker, OPERATOR } from '../deliver/circuit-breaker.ts';
import { needsPerson } from '../deliver/pause-rules.ts';
import type { NotTaken } from '../intake/offers.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import type { FileWait } from '../order/file-wait.ts';
import { type Guarantee, measuredOnes } from '../reconcile/guarantee.ts';
import type { Store } from '../redis/store.ts';
import { fileWaitText } from '../wording/file-wait.ts';
import { createHearing, sourceHeard, sourceSilent, watchFrom } from './hearing.ts';
import * as tell from './notice.ts';

export type NotifierDeps = {
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
  clock: Clock;
  environment: string;
  sources: readonly Source[];
  breaker: Pick<CircuitBreaker, 'reasons'>;
  batches: Pick<Batches, 'held' | 'find' | 'underWay'>;
  /** The report folder of a batch, and its page where the dashboard has a public address. */
  placesOf: (batch: string) => { report: string; page?: string };
  /** Keeps a notice until it is sent. One under an `id` of the last day is the same notice, from whichever daemon. */
  send: (notice: tell.Notice, id: string) => Promise<void>;
};

/** A shorter pause is not reported; `repeated`: for the same cause within `WITHIN`. Milliseconds. */
const SHORTEST_PAUSE = { operator: 2_000, automatic: 10_000, repeated: 600_000 };
const WITHIN = 3_600_000;
/** A report that comes later than this is reported as missing. Milliseconds. */
const SHORTEST_UNSETTLED = 60_000;
/** After this time, heartbeats have named what a daemon cannot take. Milliseconds. */
const HEARTBEATS = 15_000;

/** One look at all conditions. `ended`: how many reported ones have ended so far; the same one may come again. */
type Round = NotifierDeps & { ended: number; often: string };

/**
 * Decides what to report, once across all daemons and restarts: a notice is kept until it is sent, and then each report is
 * a field in Redis. In between, other daemons keep the same notice under the same name.
 */
export function createNotifier(deps: NotifierDeps) {
  const { store } = deps;
  const startedAt = deps.clock.monotonic();

  /**
   * Checks all ongoing conditions: pauses, held and unsettled batches, silent and lost sources. `notTaken`: the files that a
   * running daemon could not take for some time, and the sources that it could not read.
   */
  async function tick(
    notTaken: readonly NotTaken[],
    guarantee: readonly Guarantee[],
  ): Promise<void> {
    // Read first: every daemon must see when a reported condition ends before it checks the current state.
    const {
      [ENDED]: ended = '0',
      [OFTEN]: often = '',
      ...kept
    } = await store.redis.hgetall(store.keys.notices);
    const reported = Object.keys(kept);
    const round: Round = { ...deps, ended: Number(ended), often };
    const reportedAs = (prefix: string) => reported.filter((field) => field.startsWith(prefix));
    await checkPause(reportedAs('paused:'), round);
    const held = {
      kind: 'held',
      names: await deps.batches.held(),
      least: 0,
      notice: tell.batchIsHeld,
    } as const;
    await checkBatches(held, reportedAs('held:'), round);
    const unsettled = {
      kind: 'unsettled',
      names: (await deps.batches.underWay()).flatMap(({ batch, unsettled }) =>
        unsettled ? [batch] : [],
      ),
      least: SHORTEST_UNSETTLED,
      notice: tell.batchIsUnsettled,
    } as const;
    await checkBatches(unsettled, reportedAs('unsettled:'), round);
    await checkTwice(reportedAs('twice:'), round);
    await checkGuarantee(measuredOnes(guarantee), reportedAs('guarantee:'), round);
    const running = deps.clock.monotonic() - startedAt;
    for (const source of deps.sources) {
      const look = {
        source,
        notTaken: notTaken.filter((one) => one.source === source.name),
        reportedAs,
        running,
      };
      await checkSource(look, round);
      if (!(await checkLost(look, round))) await checkFiles(look, round);
    }
  }

  /** This daemon settles a batch, or found that the file of one that was done had been changed. */
  async function settled(batch: Batch, needPerson: number): Promise<void> {
    if (needPerson === 0) return;
    const id = `${batch.state === 'done' ? 'changed' : 'settled'}:${batch.batch}`;
    await deps.send(tell.settledBatch(batch, needPerson, factsOf(batch, deps)), id);
  }

  return { tick, ...createHearing(deps), settled };
}

async function checkPause(reported: readonly string[], deps: Round): Promise<void> {
  const { environment, store, send, often } = deps;
  const [pause] = await deps.breaker.reasons();
  const at = store.time.now();
  if (pause === undefined) {
    if (reported.length === 0) return;
    const since = tell.sinceOf(reported);
    await send(tell.deliveryResumed({ environment, at, since }), `resumed:${since}`);
    return ends(reported, deps);
  }
  const { code, reason, since } = pause;
  // Each cause that a person must end is reported once in a pause; one that ends automatically only as the first.
  const which = needsPerson(pause) ? `paused:person:${code}:` : 'paused:';
  const [last, lastAt] = often.split(' ');
  const isRepeated = last === code && at - Number(lastAt) < WITHIN;
  const shortest =
    SHORTEST_PAUSE[code === OPERATOR ? 'operator' : isRepeated ? 'repeated' : 'automatic'];
  if (reported.some((field) => field.startsWith(which)) || at - since < shortest) return;
  const facts = { environment, at, code, reason, since };
  await begins(`${which}${since}`, tell.deliveryPaused(facts), deps);
  if (code !== OPERATOR) await store.redis.hset(store.keys.notices, OFTEN, `${code} ${at}`);
}

/** How many reported conditions have ended. */
const ENDED = 'ended';
/** The cause of the pause that was reported last, and when. */
const OFTEN = 'often';

/** A state of batches that is reported once it has lasted `least` milliseconds. */
type LastingState = {
  kind: 'held' | 'unsettled';
  names: readonly string[];
  least: number;
  notice: typeof tell.batchIsHeld | typeof tell.batchIsUnsettled;
};

/** When a state has ended, a person released the batch or its report was written: that needs no notice. */
async function checkBatches(
  { kind, names, least, notice }: LastingState,
  reported: readonly string[],
  deps: Round,
): Promise<void> {
  const current = new Set<string>();
  for (const name of names) {
    const batch = await deps.batches.find(name);
    const state = batch?.[kind];
    if (batch === undefined || state === undefined) continue;
    const field = `${kind}:${name}:${state.since}`;
    current.add(field);
    const isShort = deps.store.time.now() - state.since < least;
    if (isShort || reported.includes(field)) continue;
    const reason = 'reason' in state ? state.reason : fileWaitText(withoutContent(state));
    const { since } = state;
    const facts = { ...factsOf(batch, deps), counts: batch.counts, reason, since };
    await begins(field, notice(facts), deps);
  }
  const ended = reported.filter((field) => !current.has(field));
  await ends(ended, deps);
}

/** The API's words may name orders and articles. */
function withoutContent(wait: FileWait): FileWait {
  return wait.code === 'refusals' ? { ...wait, facts: { ...wait.facts, says: '…' } } : wait;
}

/** Reported when their number grows; the field is `twice:` with the number that is known. */
async function checkTwice(reported: readonly string[], deps: Round): Promise<void> {
  const { environment, store } = deps;
  const orders = await store.redis.hlen(store.keys.listedTwice);
  const field = `twice:${orders}`;
  const isMore = reported.every((one) => Number(one.slice('twice:'.length)) < orders);
  if (orders > 0 && !reported.includes(field)) {
    const notice = tell.ordersCreatedTwice({ environment, at: store.time.now(), orders });
    await (isMore ? begins(field, notice, deps) : isReported([field], deps));
  }
  await ends(
    reported.filter((one) => one !== field),
    deps,
  );
}

/** Each assumption that fails is reported once, until it holds again or too little is known. */
async function checkGuarantee(
  all: readonly Guarantee[],
  reported: readonly string[],
  deps: Round,
): Promise<void> {
  const { environment, store } = deps;
  const failing = all.filter(({ holds }) => holds === false);
  const fieldOf = (assumption: string) => `guarantee:${assumption}`;
  for (const one of failing) {
    const field = fieldOf(one.assumption);
    if (reported.includes(field)) continue;
    await begins(field, tell.assumptionFails(one, { environment, at: store.time.now() }), deps);
  }
  const fields = failing.map(({ assumption }) => fieldOf(assumption));
  await ends(
    reported.filter((field) => !fields.includes(field)),
    deps,
  );
}

/** What is known about a source. `running`: milliseconds since this daemon started. */
type Look = {
  source: Source;
  notTaken: readonly NotTaken[];
  reportedAs: (prefix: string) => string[];
  running: number;
};

async function checkSource({ source, reportedAs, running }: Look, deps: Round): Promise<void> {
  const { name, expectEvery, path } = hideQuery(source);
  const reported = reportedAs(`silent:${name}:`);
  if (expectEvery === undefined) return;
  const { environment, send } = deps;
  const { redis, keys, time } = deps.store;
  const at = time.now();
  await watchFrom(name, at, { redis, keys });
  const [heard, watched] = await redis.hmget(keys.heard, name, `watched:${name}`);
  const heardAt = Number(heard);
  const factsFrom = (since: number) => ({
    environment,
    at,
    source: name,
    since,
    hadFile: since !== Number(watched),
  });
  if (at - heardAt <= expectEvery) {
    if (reported.length === 0) return;
    const since = tell.sinceOf(reported);
    await send(sourceHeard(factsFrom(since)), `heard:${name}:${since}`);
    return ends(reported, deps);
  }
  // The daemon may still take files that came before it started.
  if (running < settlingTime(source) || reported.length > 0) return;
  const facts = { ...factsFrom(heardAt), path, expectEveryMs: expectEvery };
  await begins(`silent:${name}:${heardAt}`, sourceSilent(facts), deps);
}

/** Whether a daemon cannot read a source: then nothing is known about its files. */
async function checkLost(
  { source, notTaken, reportedAs, running }: Look,
  deps: Round,
): Promise<boolean> {
  const { environment, store, send, ended } = deps;
  const facts = { environment, at: store.time.now(), source: source.name };
  const reported = reportedAs(`lost:${source.name}:`);
  const lost = notTaken.find(({ file }) => file === undefined);
  if (lost !== undefined) {
    if (reported.length === 0)
      await begins(
        `lost:${source.name}:`,
        tell.sourceLost({ ...facts, reason: reasonOf(lost) }),
        deps,
      );
    return true;
  }
  if (reported.length === 0) return false;
  if (!isKnown(source, running)) return true;
  await send(tell.sourceBack(facts), `back:${source.name}:${ended}`);
  await ends(reported, deps);
  return true;
}

const reasonOf = ({ reason, remedy }: Pick<NotTaken, 'reason' | 'remedy'>) =>
  [reason, remedy].filter(Boolean).join(' ');

/** Whether heartbeats have named by now what a daemon that started cannot take. */
const isKnown = (source: Source, running: number) => running >= settlingTime(source) + HEARTBEATS;

/** Files that become known together are one notice. A daemon that has just started does not know yet which ones it cannot take. */
async function checkFiles(
  { source, notTaken, reportedAs, running }: Look,
  deps: Round,
): Promise<void> {
  const { environment, store } = deps;
  const reported = reportedAs(`not-taken:${source.name}:`);
  const found = notTaken.flatMap(({ source: name, file, ...why }) =>
    file === undefined ? [] : [{ field: `not-taken:${name}:${file}`, file, ...why }],
  );
  const fresh = found.filter(({ field }) => !reported.includes(field));
  const [first, ...others] = fresh;
  if (first !== undefined) {
    const files = [first.file, ...others.map(({ file }) => file)] as const;
    const facts = { environment, at: store.time.now(), source: source.name };
    const notice = tell.filesAreNotTaken({ ...facts, files, reason: reasonOf(first) });
    await begins(
      fresh.map(({ field }) => field),
      notice,
      deps,
    );
  }
  if (!isKnown(source, running)) return;
  const ended = reported.filter((field) => found.every((one) => one.field !== field));
  await ends(ended, deps);
}

/** How long a daemon that starts may still take files that came before. Milliseconds. */
function settlingTime({ poll, stable }: Pick<Source, 'poll' | 'stable'>): number {
  return poll + 10 * stable;
}

function factsOf(
  { batch, name: file, source }: Batch,
  { environment, store, placesOf }: NotifierDeps,
) {
  return { environment, at: store.time.now(), batch, file, source, ...placesOf(batch) };
}

/** Keeps a notice until it is sent, and then that it is reported: a daemon that dies in between leaves it to the next. */
async function begins(
  fields: string | readonly string[],
  notice: tell.Notice,
  { store, send, ended }: Round,
): Promise<void> {
  const all = [fields].flat();
  await send(notice, `${all.join('\n')}:${ended}`);
  await isReported(all, { store });
}

async function isReported(
  fields: readonly string[],
  { store: { redis, keys, time } }: Pick<Round, 'store'>,
): Promise<void> {
  const at = String(time.now());
  await redis.hset(keys.notices, Object.fromEntries(fields.map((field) => [field, at])));
}

async function ends(
  fields: readonly string[],
  { store: { redis, keys } }: NotifierDeps,
): Promise<void> {
  if (fields.length === 0) return;
  await redis
    .multi()
    .hdel(keys.notices, ...fields)
    .hincrby(keys.notices, ENDED, 1)
    .exec();
}
