import { type Loop, startLoop } from '../../core/backoff/loop.ts';
import { readModelTrouble } from '../../log/events/daemon.ts';
import { createBatchTable } from './batch-table.ts';
import { openReadThread } from './read-thread.ts';
import { createSync, type ModelContext, type Tables } from './sync-tables.ts';

/** Milliseconds between two reads of the changes, and from the last query until the tables are dropped. */
const PAUSE = 1_000;
const IDLE = 15 * 60_000;
/** Milliseconds that a query waits for the tables. */
const PATIENCE = 150;

/**
 * The batches and dead letters of an environment, for lists that answer at once. Built on the first query from Redis
 * and reports, kept current by the stream of changes, and dropped when nobody asks. Not authoritative: actions ask the
 * ledger.
 */
export function createReadModel(context: ModelContext) {
  const { clock } = context;
  let current: Following | undefined;
  let askedAt = clock.monotonic();

  async function ask(): Promise<Following> {
    askedAt = clock.monotonic();
    if (current?.tables.letters.isDead) await drop();
    current ??= follow(context, () => clock.monotonic() - askedAt > IDLE, drop);
    return current;
  }

  /** The tables as soon as they are complete; undefined while they are built. */
  async function tables(): Promise<Tables | undefined> {
    const { isReady, ready } = await ask();
    if (!isReady()) await Promise.race([ready, clock.sleep(PATIENCE)]);
    return current?.isReady() ? current.tables : undefined;
  }

  async function drop(): Promise<void> {
    const old = current;
    current = undefined;
    await old?.[Symbol.asyncDispose]();
  }

  /** Ends when complete tables have everything that changed before this call. */
  async function catchUp(): Promise<void> {
    if (!current?.isReady()) return;
    // The first round may have begun before the change.
    await current.round();
    await current?.round();
  }

  return {
    tables,
    catchUp,
    /** Reports read and to be read, while the tables are built. */
    progress: () => current?.progress() ?? { read: 0, of: 0 },
    [Symbol.asyncDispose]: drop,
  };
}

type Following = AsyncDisposable & {
  tables: Tables;
  ready: Promise<void>;
  round(): Promise<void>;
  isReady(): boolean;
  progress(): { read: number; of: number };
};

/** Builds the tables and follows the changes until disposed. */
function follow(
  context: ModelContext,
  isIdle: () => boolean,
  onIdle: () => Promise<void>,
): Following {
  const { clock, log } = context;
  const tables: Tables = { batches: createBatchTable(), letters: openReadThread() };
  const ready = Promise.withResolvers<void>();
  const sync = createSync(context, tables);
  let isBuilt = false;

  async function tick(): Promise<void> {
    if (isIdle()) return void onIdle();
    if (context.store.redis.status !== 'ready') return;
    if (isBuilt && (await sync.catchUp())) return;
    isBuilt = false;
    await sync.build();
    isBuilt = true;
    ready.resolve();
  }

  const onTrouble = (error: Error) => readModelTrouble(log, { reason: error.message });
  const loop: Loop = startLoop(tick, { pause: PAUSE, clock, onTrouble });
  return {
    tables,
    ready: ready.promise,
    round: loop.round,
    isReady: () => isBuilt,
    progress: sync.progress,
    async [Symbol.asyncDispose]() {
      await tables.letters[Symbol.asyncDispose]();
      // The idle loop itself asks for its end.
      void loop[Symbol.asyncDispose]();
    },
  };
}
