import type { Source } from '../config/config.ts';
import { hideQuery } from '../config/show.ts';
import type { Clock } from '../core/clock.ts';
import type { CircuitBreaker } from '../deliver/circuit-breaker.ts';
import { needsPerson } from '../deliver/pause-rules.ts';
import type { NotTaken } from '../intake/offers.ts';
import { TWICE_REMEDY, twiceText } from '../ledger/adopt.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import { OPERATOR } from '../ledger/pause-cause.ts';
import type { FileWait } from '../order/file-wait.ts';
import { asText } from '../order/sentence.ts';
import { type Guarantee, measuredOnes } from '../reconcile/guarantee.ts';
import type { Store } from '../redis/store.ts';
import { fileWaitText } from '../wording/file-wait.ts';
import { createHearing, sourceHeard, sourceSilent, watchFrom } from './hearing.ts';
import {
  assumptionFails,
  deliveryPaused,
  filesAreNotTaken,
  type Notice,
  noticeOf,
  settledBatch,
  sinceOf,
  sourceLost,
  waitingBatch,
} from './notice.ts';

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
  send: (notice: Notice, id: string) => Promise<void>;
};

/** A shorter pause is not reported; `repeated`: for the same cause within `WITHIN`. Milliseconds. */
const SHORTEST_PAUSE = { operator: 2_000, automatic: 10_000, repeated: 600_000 };
const WITHIN = 3_600_000;
/** A shorter state of a batch is not reported: a report that comes later than this is missing. Milliseconds. */
const SHORTEST_STATE = { held: 0, unsettled: 60_000 };
/** After this time, heartbeats have named what a daemon cannot take. Milliseconds. */
const HEARTBEATS = 15_000;

/** How many conditions that were reported are over. */
const ENDED = 'ended';
/** The cause of the pause that was reported last, and when. */
const OFTEN = 'often';

/** One look at all conditions. `reportedAs`: fields of what was reported; `running`: milliseconds since this daemon started. */
type Look = NotifierDeps & {
  at: number;
  often: string;
  running: number;
  reportedAs: (prefix: string) => string[];
};

/** What is reported when it begins, and not again under any of its fields. `more`: what else is kept then. */
type Condition = { fields: readonly string[]; notice: Notice; more?: Record<string, string> };

/** What a look found of the conditions whose fields begin with `prefix`. */
type Found = {
  prefix: string;
  now: readonly Condition[];
  /** Whether one that was reported continues. */
  lasts: (field: string) => boolean;
  /** The notice that those which were reported are over; most ends need no notice. */
  over?: (fields: readonly string[]) => Notice;
};

/**
 * Decides what to report, once across all daemons and restarts: a notice is kept until it is sent, and then each report is
 * a field in Redis. In between, other daemons keep the same notice under the same name.
 */
export function createNotifier(deps: NotifierDeps) {
  const { store, send } = deps;
  const { redis, keys, time } = store;
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
    const kept = await redis.hgetall(keys.notices);
    const { [ENDED]: ended = '0', [OFTEN]: often = '', ...reported } = kept;
    const reportedAs = (prefix: string) =>
      Object.keys(reported).filter((field) => field.startsWith(prefix));
    const running = deps.clock.monotonic() - startedAt;
    const look: Look = { ...deps, at: time.now(), often, running, reportedAs };
    const underWay = await deps.batches.underWay();
    const unsettled = underWay.flatMap(({ batch, unsettled: state }) => (state ? [batch] : []));
    const all = [
      await pauses(look),
      await batchesThat('held', await deps.batches.held(), look),
      await batchesThat('unsettled', unsettled, look),
      await createdTwice(look),
      assumptions(measuredOnes(guarantee), look),
      ...(await Promise.all(deps.sources.map((source) => silence(source, look)))).flat(),
      ...deps.sources.flatMap((source) => unread(source, notTaken, look)),
    ];
    for (const found of all) await report(found, reportedAs(found.prefix), ended);
  }

  /** Keeps a notice until it is sent, and then that it is reported: a daemon that dies in between leaves it to the next. */
  async function report(found: Found, reported: readonly string[], ended: string): Promise<void> {
    for (const { fields, notice, more } of found.now) {
      if (fields.some((field) => reported.includes(field))) continue;
      await send(notice, `${fields.join('\n')}:${ended}`);
      const at = String(time.now());
      await redis.hset(keys.notices, {
        ...Object.fromEntries(fields.map((field) => [field, at])),
        ...more,
      });
    }
    const over = reported.filter((field) => !found.lasts(field));
    if (over.length === 0) return;
    if (found.over) await send(found.over(over), `over:${over.join('\n')}:${ended}`);
    await redis
      .multi()
      .hdel(keys.notices, ...over)
      .hincrby(keys.notices, ENDED, 1)
      .exec();
  }

  /** This daemon settles a batch, or found that the file of one that was done had been changed. */
  async function settled(batch: Batch, needPerson: number): Promise<void> {
    if (needPerson === 0) return;
    const id = `${batch.state === 'done' ? 'changed' : 'settled'}:${batch.batch}`;
    const facts = factsOf(batch, { ...deps, at: time.now() });
    await send(settledBatch(batch, needPerson, facts), id);
  }

  return { tick, ...createHearing(deps), settled };
}

async function pauses({ environment, at, breaker, often, reportedAs }: Look): Promise<Found> {
  const [pause] = await breaker.reasons();
  const over = (fields: readonly string[]) =>
    noticeOf('paused', 'resumed', `Delivery to ${environment} resumed.`, {
      environment,
      at,
      since: sinceOf(fields),
    });
  const found = { prefix: 'paused:', now: [], lasts: () => pause !== undefined, over };
  if (pause === undefined) return found;
  const { code, since } = pause;
  // Each cause that a person must end is reported once in a pause; one that ends automatically only as the first.
  const which = needsPerson(pause) ? `paused:person:${code}:` : 'paused:';
  const [last, lastAt] = often.split(' ');
  const isRepeated = last === code && at - Number(lastAt) < WITHIN;
  const shortest =
    SHORTEST_PAUSE[code === OPERATOR ? 'operator' : isRepeated ? 'repeated' : 'automatic'];
  if (reportedAs(which).length > 0 || at - since < shortest) return found;
  const notice = deliveryPaused({ environment, at }, pause);
  const more = code === OPERATOR ? {} : { [OFTEN]: `${code} ${at}` };
  return { ...found, now: [{ fields: [`${which}${since}`], notice, more }] };
}

/** When a state has ended, a person released the batch or its report was written: that needs no notice. */
async function batchesThat(
  kind: 'held' | 'unsettled',
  names: readonly string[],
  look: Look,
): Promise<Found> {
  const lasting = new Set<string>();
  const now: Condition[] = [];
  for (const name of names) {
    const batch = await look.batches.find(name);
    const state = batch?.[kind];
    if (batch === undefined || state === undefined) continue;
    const { since } = state;
    const field = `${kind}:${name}:${since}`;
    lasting.add(field);
    if (look.at - since < SHORTEST_STATE[kind]) continue;
    const reason = 'reason' in state ? state.reason : asText(fileWaitText(withoutContent(state)));
    const facts = { ...factsOf(batch, look), counts: batch.counts, reason, since };
    now.push({ fields: [field], notice: waitingBatch(kind, facts) });
  }
  return { prefix: `${kind}:`, now, lasts: (field) => lasting.has(field) };
}

/** The API's words may name orders and articles. */
function withoutContent(wait: FileWait): FileWait {
  return wait.code === 'refusals' ? { ...wait, facts: { ...wait.facts, says: '…' } } : wait;
}

/** Reported when there are more than ever; the field is `twice:` with their number. */
async function createdTwice({ environment, at, store, reportedAs }: Look): Promise<Found> {
  const prefix = 'twice:';
  const orders = await store.redis.hlen(store.keys.listedTwice);
  const known = reportedAs(prefix).map((field) => Number(field.slice(prefix.length)));
  const notice = noticeOf('attention', 'created-twice', `${twiceText(orders)}. ${TWICE_REMEDY}`, {
    environment,
    at,
    orders,
  });
  const now = orders > Math.max(0, ...known) ? [{ fields: [`${prefix}${orders}`], notice }] : [];
  return { prefix, now, lasts: () => orders > 0 };
}

/** Each assumption that fails is reported once, until it holds again or too little is known. */
function assumptions(all: readonly Guarantee[], { environment, at }: Look): Found {
  const now = all.flatMap((one) =>
    one.holds === false
      ? [
          {
            fields: [`guarantee:${one.assumption}`],
            notice: assumptionFails(one, { environment, at }),
          },
        ]
      : [],
  );
  const lasts = (field: string) => now.some(({ fields }) => fields.includes(field));
  return { prefix: 'guarantee:', now, lasts };
}

async function silence(source: Source, look: Look): Promise<Found[]> {
  const { name, expectEvery, path } = hideQuery(source);
  if (expectEvery === undefined) return [];
  const { environment, at, running, reportedAs, store } = look;
  const prefix = `silent:${name}:`;
  await watchFrom(name, at, store);
  const [heard, watched] = await store.redis.hmget(store.keys.heard, name, `watched:${name}`);
  const factsFrom = (since: number) => ({
    environment,
    at,
    source: name,
    since,
    hadFile: since !== Number(watched),
  });
  const heardAt = Number(heard);
  const isSilent = at - heardAt > expectEvery;
  // The daemon may still take files that came before it started.
  const isNew = isSilent && running >= settlingTime(source) && reportedAs(prefix).length === 0;
  const notice = sourceSilent({ ...factsFrom(heardAt), path, expectEveryMs: expectEvery });
  return [
    {
      prefix,
      now: isNew ? [{ fields: [`${prefix}${heardAt}`], notice }] : [],
      lasts: () => isSilent,
      over: (fields) => sourceHeard(factsFrom(sinceOf(fields))),
    },
  ];
}

/**
 * Whether a daemon cannot read a source, and files of it that cannot be taken: those that become known together are one
 * notice.
 */
function unread(source: Source, notTaken: readonly NotTaken[], look: Look): Found[] {
  const { environment, at, running, reportedAs } = look;
  const { name } = source;
  const facts = { environment, at, source: name };
  // Heartbeats of daemons that have just started do not name yet what they cannot take.
  const isKnown = running >= settlingTime(source) + HEARTBEATS;
  const own = notTaken.filter((one) => one.source === name);
  const lost = own.find(({ file }) => file === undefined);
  const lostAs = `lost:${name}:`;
  const loss: Found = {
    prefix: lostAs,
    now: lost ? [{ fields: [lostAs], notice: sourceLost(facts, reasonOf(lost)) }] : [],
    lasts: () => lost !== undefined || !isKnown,
    over: () => noticeOf('attention', 'back', `Source ${name} can be read again.`, facts),
  };
  // Until it can be read again, nothing is known about its files.
  if (lost || reportedAs(lostAs).length > 0) return [loss];
  const prefix = `not-taken:${name}:`;
  const found = own.map(({ file = '', ...why }) => ({ ...why, file, field: `${prefix}${file}` }));
  const known = reportedAs(prefix);
  const fresh = found.filter(({ field }) => !known.includes(field));
  const [first] = fresh;
  const files = fresh.map(({ file }) => file);
  const now = first && {
    fields: fresh.map(({ field }) => field),
    notice: filesAreNotTaken(facts, files, reasonOf(first)),
  };
  const lasts = (field: string) => !isKnown || found.some((one) => one.field === field);
  return [loss, { prefix, now: now ? [now] : [], lasts }];
}

const reasonOf = ({ reason, remedy }: Pick<NotTaken, 'reason' | 'remedy'>) =>
  [reason, remedy].filter(Boolean).join(' ');

/** How long a daemon that starts may still take files that came before. Milliseconds. */
function settlingTime({ poll, stable }: Pick<Source, 'poll' | 'stable'>): number {
  return poll + 10 * stable;
}

function factsOf(
  { batch, name: file, source }: Batch,
  { environment, at, placesOf }: Pick<Look, 'environment' | 'at' | 'placesOf'>,
) {
  return { environment, at, batch, file, source, ...placesOf(batch) };
}
