import { randomUUID } from 'node:crypto';
import type { Partner } from '../../api/partner.ts';
import { PoSyncError } from '../../core/errors.ts';
import { iso } from '../../core/format.ts';
import { within } from '../../core/semaphore.ts';
import { letterWait, openDeadLetters } from '../../operate/batches/open-dead-letters.ts';
import { createCorrections } from '../../operate/corrections/corrections.ts';
import { findListed, readInTurn } from '../../operate/delivery/api-list.ts';
import { readStatus, type Status } from '../../operate/delivery/read-status.ts';
import type { ListTables } from '../../operate/lists/list-tables.ts';
import { createLists } from '../../operate/lists/lists.ts';
import type { BulkEnd, BulkJob, OperationContext } from '../../operate/operation-context.ts';
import type { OperatorContext } from '../../operate/operator-context.ts';
import { workOnBulk } from '../../operations/run-bulk.ts';
import { needIntake } from '../../operations/run-correct.ts';
import type { ClaimedFile } from '../../order/batch.ts';
import { openPersonJobs } from '../../queue/person-jobs.ts';
import type { Principal, Route } from '../http/route.ts';
import type { Hours } from '../picture/hours.ts';
import { createUploads } from './uploads.ts';

/** A status, and when it was read: Redis time in milliseconds. `awaySince`: Redis does not answer since then. */
export type Snapshot = { status: Status; asOf: number; awaySince?: number };

export type ApiContext = ReturnType<typeof createApiContext>;

/** Milliseconds that an answer of Redis may take; a Redis that is not reachable never answers. */
const TIME_LIMIT = 5_000;

/** The partner's list, and intake for files that people submit. */
type Outside = {
  partner: Pick<Partner, 'list'>;
  sources: { take(file: ClaimedFile): Promise<void> };
  /** False for a daemon that only delivers: it does not see the folders. */
  takesFiles: boolean;
  examine: OperationContext['examine'];
  hours: Pick<Hours, 'last'>;
};

/** What the routes of the control API share. */
export function createApiContext(base: Omit<OperatorContext, 'operator'>, outside: Outside) {
  const { store } = base;
  const model = createLists(base);
  const away = watchAway(base);
  const { needingRedis, withRedis, withinLimit } = createRedisGate(base, away);

  /** The context in which a person acts; their name gets into the history of orders. */
  function operatorOf(principal: Principal | undefined): OperatorContext {
    const who = principal?.who || 'nobody';
    return { ...base, operator: { who, did: (what) => ({ at: store.time.now(), who, what }) } };
  }

  /** From the lists, unless they are being built. */
  async function countLetters() {
    const found = (await model.tables().catch(() => undefined))?.openLetters();
    return found ? letterWait(found.orders, found.oldest) : openDeadLetters(base);
  }
  const readSnapshot = remembered(base, async (): Promise<Snapshot> => {
    return {
      status: await readStatus(operatorOf(undefined), countLetters),
      asOf: store.time.now(),
    };
  });

  /** The last status, while Redis is not reachable too. PoSyncError `redis-away` before the first. */
  async function snapshot(): Promise<Snapshot> {
    const awaySince = away();
    if (awaySince === undefined) return withinLimit(readSnapshot.current());
    const last = readSnapshot.last();
    if (last === undefined) throw redisAway();
    return { ...last, awaySince };
  }

  /** The last hours; while Redis is not reachable as they were read last. */
  const hours = (count: number) =>
    away() === undefined ? withinLimit(outside.hours.last(count)) : outside.hours.last(count);

  /** PoSyncError `lists-being-read` while the lists are built. */
  async function tables(): Promise<ListTables> {
    const found = await model.tables();
    if (found !== undefined) return found;
    throw new PoSyncError('lists-being-read', 'The lists are being built.', {
      remedy: 'Try again in a second.',
    });
  }

  // It asks the API too: readers share what was found.
  const examined = remembered(base, outside.examine);
  const people = openPeople(base, outside);
  const jobs = openPersonJobs<BulkJob, BulkEnd>(base);
  const shared = { status: snapshot, examine: examined.current, jobs, lists: tables };

  /** What operations work on, for a person. */
  function operationContext(principal: Principal | undefined): OperationContext {
    const checkList = (numbers: ReadonlySet<string>) => findListed(numbers, people.readList);
    const { readList, take } = people;
    return { ...operatorOf(principal), ...shared, checkList, readList, take };
  }

  const working = jobs.work((id, job) => workOnBulk(id, job, operationContext(undefined)));

  return {
    base,
    operatorOf,
    operationContext,
    jobs,
    ...people,
    outdate: readSnapshot.outdate,
    snapshot,
    hours,
    tables,
    needingRedis,
    withRedis,
    [Symbol.asyncDispose]: () => disposeOf(working, jobs, people.uploads, model),
  };
}

/** What people submit, decide and read: corrections of dead letters, uploads, plans for many dead letters, and notes. */
function openPeople(
  base: Omit<OperatorContext, 'operator'>,
  { partner, sources, takesFiles }: Outside,
) {
  const readList = readInTurn(base, partner);
  const corrections = createCorrections(base, sources.take);
  const take = takesFiles ? sources.take : undefined;
  const uploads = createUploads(base);
  return {
    readList,
    corrections,
    uploads,
    take,
    needIntake: () => void needIntake(take),
    notes: createNotes(base.store),
  };
}

async function disposeOf(...parts: readonly AsyncDisposable[]): Promise<void> {
  for (const part of parts) await part[Symbol.asyncDispose]();
}

/** Keeps requests from waiting for a Redis that is not reachable. */
function createRedisGate(
  { clock }: Pick<OperatorContext, 'clock'>,
  away: () => number | undefined,
) {
  /** A route that needs Redis: it answers 503 instead of waiting for it. An act that has begun is not cut off. */
  function needingRedis(route: Route): Route {
    return {
      ...route,
      handle(request) {
        if (away() !== undefined) throw redisAway();
        const reply = Promise.resolve(route.handle(request));
        return route.method === 'GET' ? withinLimit(reply) : reply;
      },
    };
  }

  /** An answer that needs Redis. PoSyncError `redis-away`. */
  async function withRedis<Result>(answer: () => Promise<Result>): Promise<Result> {
    if (away() !== undefined) throw redisAway();
    return withinLimit(answer());
  }

  async function withinLimit<Result>(answer: Promise<Result>): Promise<Result> {
    for (;;) {
      const found = await within(
        TIME_LIMIT,
        answer.then((result) => ({ result })),
        clock,
      );
      if (found !== undefined) return found.result;
      // A Redis that hangs is known to be away only some time later.
      if (away() !== undefined) throw redisAway();
    }
  }

  return { needingRedis, withRedis, withinLimit };
}

function redisAway(): PoSyncError {
  return new PoSyncError('redis-away', 'Redis is not reachable.', {
    remedy: 'Delivery waits and resumes when Redis is back. Check Redis, then try again.',
  });
}

/** What an act said, for the page that its form leads back to. Text in the address could come from anybody. */
export type Note = { text: string; isGood: boolean; isOpen?: boolean };

const NOTES = 200;

function createNotes({ time }: Pick<OperatorContext, 'store'>['store']) {
  const kept = new Map<string, Note & { at: string }>();
  return {
    keep(note: Note): string {
      const id = randomUUID();
      // The page may be loaded again much later.
      kept.set(id, { ...note, at: iso(time.now()) });
      const [oldest] = kept.keys();
      if (kept.size > NOTES && oldest !== undefined) kept.delete(oldest);
      return id;
    },
    find: (id: string) => kept.get(id),
  };
}

/** Since when Redis is not reachable, by the clock that continues its time; undefined while it answers. */
function watchAway({ store }: Pick<OperatorContext, 'store'>): () => number | undefined {
  let since: number | undefined;
  store.redis.on('close', () => {
    since ??= store.time.now();
  });
  store.redis.on('ready', () => {
    since = undefined;
  });
  return () => (store.redis.status === 'ready' ? undefined : (since ?? store.time.now()));
}

/** Milliseconds that an answer is fresh: twenty times as long as it took, within bounds. */
const FRESH = [1_000, 5_000] as const;
const SHARE = 20;

/** Readers share one reading, and its result while that is fresh. */
function remembered<Result>(
  { clock }: Pick<OperatorContext, 'clock'>,
  read: () => Promise<Result>,
) {
  let last: { result: Result; until: number } | undefined;
  let running: Promise<Result> | undefined;

  function refresh(): Promise<Result> {
    const began = clock.monotonic();
    const reading = read()
      .then((result) => {
        const now = clock.monotonic();
        const [least, most] = FRESH;
        const until = now + Math.min(most, Math.max(least, (now - began) * SHARE));
        if (running === reading) last = { result, until };
        return result;
      })
      .finally(() => {
        if (running === reading) running = undefined;
      });
    running = reading;
    return reading;
  }

  return {
    current: async (): Promise<Result> =>
      last && clock.monotonic() < last.until ? last.result : (running ?? refresh()),
    /** After an act, nobody is shown what was read before it. */
    outdate(): void {
      if (last) last = { ...last, until: Number.NEGATIVE_INFINITY };
      running = undefined;
    },
    last: () => last?.result,
  };
}
