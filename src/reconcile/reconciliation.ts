import type { Partner } from '../api/partner.ts';
import { environmentOf } from '../config/config.ts';
import { codeOf, toError } from '../core/errors.ts';
import { within } from '../core/semaphore.ts';
import type { CircuitBreaker } from '../deliver/circuit-breaker.ts';
import { rateLimitOf } from '../deliver/guards.ts';
import type { Entry } from '../ledger/entry.ts';
import type { EnvironmentLedger } from '../ledger/environment-ledger.ts';
import { waitsForList } from '../ledger/pause-cause.ts';
import { deliveryTrouble, ledgerRolledBack } from '../log/events/delivery.ts';
import { type Context, requireFormat } from '../redis/store.ts';
import type { RedisTime } from '../redis/time.ts';
import { lossText } from '../wording/pause.ts';
import { createCanaries } from './canaries.ts';
import { createFreshList } from './fresh-list.ts';
import { createGuaranteeMeter } from './guarantee-meter.ts';
import { createLedgerRebuild, createTakeIn, type LedgerRebuild } from './ledger-rebuild.ts';
import { createListProof } from './list-proof.ts';
import { createVerifier } from './verifier.ts';

type ReconciliationDeps = {
  context: Context;
  book: EnvironmentLedger;
  partner: Pick<Partner, 'list'>;
  breaker: CircuitBreaker;
};

/** What the API's list is used for: orders in doubt, and a ledger that knows too little. */
export type Reconciliation = AsyncDisposable & {
  /** Reads the list for orders in doubt, if any are due. */
  verify(): Promise<void>;
  /** Reads the list where an order must be shown before others are sent. */
  prove(): Promise<void>;
  /** Whether this process has looked what the list shows now, where it must show something. */
  hasLooked(): boolean;
  /** Reads the list for orders that are admitted only after a newer one, if there are any. */
  refresh(): Promise<void>;
  rebuild: LedgerRebuild;
  /** Reads the list for the guarantee meter, if nobody else has for an hour. */
  measure(): Promise<void>;
  /**
   * Compares the ledger with its checkpoint. If entries are missing, or another ledger (`ledgerBefore`) was used meanwhile, the
   * API's list is read before anything is sent.
   */
  establish(ledgerBefore?: string): Promise<void>;
  /** Aborts with PoSyncError `ledger-newer` when a newer version has changed the format of the ledger since the start. */
  outdated: AbortSignal;
  /** The API has just answered that it created this order, by an attempt that began at `since`: it may serve as a canary, and lists should show it. */
  remember(number: string, since: number): void;
};

/** Builds everything that reads the API's list for one environment; starts nothing. */
export function createReconciliation(
  { context, book, partner, breaker }: ReconciliationDeps,
  waitsFor?: 'reports',
): Reconciliation {
  const { config, store, owner, clock, log, stopping } = context;
  const { ledger, identity, policy } = book;
  const { settle } = policy;
  const { protected: isProtected, list: mode } = environmentOf(config);
  const refreshBreaker = () => breaker.refresh(true);
  const canaries = createCanaries({ ...store, clock, settle });
  const meter = createGuaranteeMeter({ store, ledger, clock, owner, settle, log, stopping });
  const proof = createListProof({
    store,
    ledger,
    list: countedList(context, partner),
    rules: { mode, isProtected, settle },
    owner,
    takeIn: createTakeIn({ store, ledger, policy, log }),
    canaries,
    on: { refresh: refreshBreaker, watch: meter.watch, kind: meter.sawKind, cut: meter.sawCut },
  });
  const shared = { store, ledger, owner, policy, log, proof };
  const delivery = {
    onVerdict: learnFrom(breaker, store.time),
    isAway: () => isAway(breaker),
  };
  const verifier = createVerifier({ ...shared, canaries, delivery });
  const rebuild = createLedgerRebuild({ ...shared, clock, refresh: refreshBreaker }, waitsFor);
  const freshList = createFreshList({ ...shared, clock, settle, stopping, rebuild });
  const outdated = new AbortController();
  let establishing: Promise<void> | undefined;

  function establish(ledgerBefore?: string): Promise<void> {
    // All orders in progress notice a rollback together: it is examined and reported once.
    establishing ??= compare(ledgerBefore).finally(() => {
      establishing = undefined;
    });
    return establishing;
  }

  async function compare(ledgerBefore: string | undefined): Promise<void> {
    await requireFormat({ ...store, config }).catch((error: unknown) => {
      if (OUTDATED.includes(codeOf(error) ?? '')) outdated.abort(error);
      throw error;
    });
    const standing = await identity.establish(ledgerBefore);
    const isWhole = standing === 'same' || standing === 'new';
    if (!isWhole)
      ledgerRolledBack(log, { environment: config.environment, reason: lossText(standing) });
    await store.time.sync();
    await breaker.refresh(true);
  }

  function remember(number: string, since: number): void {
    meter.remember(number);
    canaries
      .remember(number, since)
      .catch((error: unknown) => deliveryTrouble(log, { reason: toError(error).message }));
  }

  /** With the changes of the last second: without them, a restore of what Redis had before a short run is not noticed. */
  async function end(): Promise<void> {
    // Redis may be lost.
    const flushed = within(LAST_WAIT, canaries.flush(), clock);
    await Promise.all([identity.store(), flushed]).catch((error: unknown) =>
      deliveryTrouble(log, { reason: toError(error).message }),
    );
  }

  async function verify(): Promise<void> {
    await canaries.tick();
    await verifier.tick();
  }

  const readings = {
    verify,
    prove: proof.tick,
    refresh: freshList.tick,
    rebuild,
  };
  return {
    ...readings,
    hasLooked: proof.hasLooked,
    establish,
    outdated: outdated.signal,
    remember,
    measure: async () => void (mode !== 'none' && (await meter.tick(proof.read))),
    [Symbol.asyncDispose]: end,
  };
}

/** Milliseconds that the end waits for Redis. */
const LAST_WAIT = 1_000;

/** Another daemon writes a newer ledger, or changed what it is for. */
const OUTDATED = ['ledger-newer', 'ledger-of-another-api'];

/** Whether the API takes no order at all; while delivery waits for the list, nobody asks it to. */
export function isAway(breaker: Pick<CircuitBreaker, 'current'>): boolean {
  const pause = breaker.current();
  return pause !== undefined && !waitsForList(pause.code);
}

/** Reads of the list count within a rate limit, and come first. */
export function countedList(
  context: Parameters<typeof rateLimitOf>[0] & Pick<Context, 'stopping'>,
  { list }: Pick<Partner, 'list'>,
): Partner['list'] {
  const rate = rateLimitOf(context);
  return async (onOrder, query) => {
    await rate.takeFirst(context.stopping);
    return list(onOrder, query);
  };
}

/**
 * What delivery learns from an order in doubt that the list shows or does not show. What it shows for one success answer
 * without an envelope applies to all such answers.
 */
export function learnFrom(breaker: CircuitBreaker, time: Pick<RedisTime, 'now'>) {
  return async ({ answer, maybeSentAt = 0 }: Entry, wasCreated: boolean): Promise<void> => {
    if (wasCreated) await tryNext(maybeSentAt);
    const status = answer?.httpStatus ?? 0;
    if (status < 200 || status > 299) return;
    await breaker.learnAnswers(wasCreated);
    if (!wasCreated) return;
    await breaker.accepted();
    await breaker.reset();
  };

  /** The order was created during a pause, and only its answer was lost. The API may lose every answer: one order is tried. */
  async function tryNext(sentAt: number): Promise<void> {
    if (!waitsSince(sentAt)) return;
    // Another daemon may have been asked to wait a moment ago.
    await breaker.refresh(true);
    if (waitsSince(sentAt)) await breaker.lift();
  }

  function waitsSince(sentAt: number): boolean {
    const pause = breaker.current();
    return pause?.held === false && sentAt >= pause.since && breaker.slowUntil() <= time.now();
  }
}
