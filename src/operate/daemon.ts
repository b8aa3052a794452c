import type { Config } from '../config/config.ts';
import type { Network } from '../config/network.ts';
import type { AdminTokens, Secrets } from '../config/secrets.ts';
import type { Clock } from '../core/clock.ts';
import { within } from '../core/semaphore.ts';
import type { CircuitBreaker } from '../deliver/circuit-breaker.ts';
import type { NotTaken } from '../intake/offers.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { listNeedsPerson, OPERATOR } from '../ledger/pause-cause.ts';
import type { Log } from '../log/log.ts';
import type { NoticeSurroundings } from '../notify/notices.ts';
import type { Sentence } from '../order/sentence.ts';
import type { LedgerChange } from '../redis/ledger-api.ts';
import { fileWaitText } from '../wording/file-wait.ts';
import { pauseText } from '../wording/pause.ts';

/** What a daemon is built from. */
export type DaemonInput = {
  config: Config;
  secrets: Secrets;
  /** Absent: directly to everything. */
  network?: Network;
  /** Absent: none. */
  adminTokens?: AdminTokens;
  clock: Clock;
  log: Log;
  self: Self;
  /** Stops waiting for a Redis that is loading its data. */
  signal?: AbortSignal;
  /** Keeps a value out of the log. */
  hide?: (secret: string) => void;
  /** Called with each batch that was settled here, how many of its orders need a person, and how many have no number. */
  onSettled?: (batch: Batch, needPerson: number, nameless?: number) => void;
  /** Called with the name of each batch whose file is read here; another daemon may settle it. */
  onTaken?: (batch: string) => void;
  /** What notices may use of the process. */
  notices?: NoticeSurroundings;
  /** What becomes of the ledger of another API. */
  change?: LedgerChange | undefined;
  /** `--once` serves no admin port. */
  admin: boolean;
};

/** An open daemon; disposing hands back its unfinished work. */
export type Daemon = AsyncDisposable &
  Backlog & {
    adminPort: number | undefined;
    /** Watches the sources from now on. */
    watch(): Promise<void>;
    /** Takes the files present now; resolves when each is claimed, with those that cannot be taken. Never rejects. */
    takePresent(): Promise<NotTaken[]>;
    /** Aborts with the error that ends this daemon: a newer version has changed the format of the ledger. */
    outdated: AbortSignal;
  };

/** The daemon's own process. `role`: the one side that it serves; absent: both. */
export type Self = { pid: number; version: string; role?: Role };

/** `intake` takes files, admits their orders and writes reports. `delivery` calls the API. */
export type Role = 'intake' | 'delivery';

type BacklogDeps = {
  ledger: Ledger;
  batches: Batches;
  breaker: CircuitBreaker;
  /** How many files are being read now. */
  reading: () => number;
  /** Whether this process has looked what the API's list shows now. */
  hasLooked: () => boolean;
};

export type Backlog = ReturnType<typeof createBacklog>;

/** The remaining work of all daemons of an environment. */
export function createBacklog({ ledger, batches, breaker, reading, hasLooked }: BacklogDeps) {
  /**
   * How many files, orders and batches are not finished. They are counted one after the other, in the order in
   * which work passes on: what leaves one count meanwhile is in a later one.
   */
  async function unfinished(): Promise<number> {
    const filesAndOrders = reading() + (await ledger.unsettled());
    return filesAndOrders + (await batches.underWay()).length;
  }

  /** Why nothing continues without a person: an operator paused delivery, the list does not show what it must, or only held batches are left. */
  async function waitsForPerson(): Promise<Sentence | undefined> {
    const pause = breaker.current();
    const isEnd = pause?.code === OPERATOR || (pause && listNeedsPerson(pause.code) && hasLooked());
    if (pause && isEnd) return pauseText(pause);
    const underWay = await batches.underWay();
    // Reading stops where refusals hold a batch. Any other file that waits is only read to see whether it still does.
    const partlyRead = underWay.filter(
      ({ state, held }) => state === 'reading' && held?.code === 'refusals',
    ).length;
    const onlyHeld =
      underWay.length > 0 &&
      underWay.every(({ held }) => held !== undefined) &&
      reading() <= partlyRead;
    const [first] = onlyHeld ? underWay : [];
    return first?.held && fileWaitText(first.held);
  }

  return {
    unfinished,
    waitsForPerson,
    underWay: batches.underWay,
    find: batches.find,
    /** Why delivery is paused now, as far as this daemon knows. */
    pause: breaker.current,
  };
}

/** Why a run of `--once` ended: nothing is left, a person must decide, the maximum wait is over, or a signal. */
export type End = 'done' | 'held' | 'waited' | 'interrupted';

type Ended = { end: End; notTaken: NotTaken[] };

/** Milliseconds between two checks of whether the run is done; and for one, while Redis may be lost: what a timer can wait. */
const LOOK_AGAIN = 100;
const [LEAST_LIMIT, MOST_LIMIT] = [5_000, 2_147_483_647];

/** Waits until the daemon has nothing left that it can do without a person, at most `maxWait` milliseconds. */
export async function runUntilDone(
  daemon: Daemon,
  maxWait: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<Ended> {
  const until = clock.monotonic() + maxWait;
  let notTaken: NotTaken[] | undefined;
  void daemon.takePresent().then((left) => (notTaken = left));
  const limit = () => Math.min(Math.max(until - clock.monotonic(), LEAST_LIMIT), MOST_LIMIT);
  const ended = (end: End) => ({ end, notTaken: notTaken ?? [] });
  while (!signal.aborted) {
    daemon.outdated.throwIfAborted();
    const end = notTaken && (await within(limit(), endOf(daemon), clock, signal));
    if (end) return ended(end);
    if (clock.monotonic() >= until) return ended('waited');
    await clock.sleep(LOOK_AGAIN, signal);
  }
  return ended('interrupted');
}

async function endOf(
  daemon: Pick<Daemon, 'unfinished' | 'waitsForPerson'>,
): Promise<End | undefined> {
  if ((await daemon.unfinished()) === 0) return 'done';
  return (await daemon.waitsForPerson()) === undefined ? undefined : 'held';
}
