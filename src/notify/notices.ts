import { dirname } from 'node:path';
import type { Config, Notice as Receiver } from '../config/config.ts';
import { DIRECT, type Network } from '../config/network.ts';
import { startLoop } from '../core/backoff/loop.ts';
import type { Clock } from '../core/clock.ts';
import { codeOf, toError } from '../core/errors.ts';
import { openHttp } from '../core/http.ts';
import type { NotTaken } from '../intake/offers.ts';
import type { Batch } from '../ledger/batches/batches.ts';
import { noticeTrouble } from '../log/events/notify.ts';
import type { Log } from '../log/log.ts';
import { readGuarantee } from '../reconcile/guarantee.ts';
import type { Store } from '../redis/store.ts';
import { callWebhook, runCommand } from './channels.ts';
import { type Notice, placesOf } from './notice.ts';
import { createNotifier, type NotifierDeps } from './notifier.ts';
import { type OpenReceiver, openOutbox, type Way } from './outbox.ts';
import { createRedisWatch } from './redis-watch.ts';

/** What notices may use of the process. */
export type NoticeSurroundings = {
  /** Variables for programs that are run. po-sync's own, which may contain credentials, are removed. */
  env: Readonly<Record<string, string | undefined>>;
  /** Removes secrets from a line of JSON. */
  redactLine: (line: string) => string;
};

type Deps = {
  config: Config;
  store: Store;
  side: Pick<NotifierDeps, 'breaker' | 'batches'> & { notTaken: () => Promise<NotTaken[]> };
  clock: Clock;
  log: Log;
  input: { notices?: NoticeSurroundings; network?: Network };
};

/** Milliseconds for one call of a webhook or one run of a program. */
const TIMEOUT = 10_000;

const NO_SURROUNDINGS: NoticeSurroundings = { env: {}, redactLine: (line) => line };

/** Sends notices to the receivers of `notify`. Delivery never waits for it. */
export function openNotices(deps: Deps) {
  const { config, store, side, clock, log } = deps;
  const resources = new AsyncDisposableStack();
  const onTrouble = (error: unknown) =>
    noticeTrouble(log, { reason: codeOf(error) ?? toError(error).message });
  const receivers = config.notify.flatMap(({ on, ...receiver }) =>
    waysTo(receiver, deps, resources).map((way): OpenReceiver => {
      const outbox = resources.use(openOutbox({ way, store, log, onTrouble }));
      return { on, way, outbox };
    }),
  );
  const notifier = createNotifier({
    store,
    clock,
    environment: config.environment,
    sources: config.sources,
    breaker: side.breaker,
    batches: side.batches,
    placesOf: (batch) => placesOf(batch, config),
    send: (notice, id) => put(id, notice, receivers),
  });
  const stopping = new AbortController();
  if (receivers.length > 0) {
    const deps = { config, store, clock, receivers, onTrouble };
    const look = createRedisWatch({ ...deps, signal: stopping.signal });
    resources.use(startLoop(look, { pause: 1_000, clock, onTrouble }));
    resources.defer(() => stopping.abort());
  }
  const running = new Set<Promise<void>>();

  /** Runs work in the background. */
  function runAside(work: Promise<void>): Promise<void> {
    const kept = work.catch(onTrouble).finally(() => running.delete(kept));
    running.add(kept);
    return kept;
  }

  async function tick(): Promise<void> {
    if (receivers.length === 0) return notifier.watch();
    const { settle } = config.delivery;
    const guarantee = await readGuarantee(store, { settle, now: store.time.now() });
    await notifier.tick(await side.notTaken(), guarantee);
  }

  return {
    /** Call about once a second. */
    tick,
    /** The file of a batch could be read. */
    heard: (batch: string) =>
      runAside(side.batches.find(batch).then((found) => found && notifier.heard(found))),
    /** This daemon is about to end a batch: the notice about it is kept first. */
    announce: async (batch: Batch, needPerson: number): Promise<void> => {
      if (receivers.length > 0) await notifier.settled(batch, needPerson);
    },
    /** Checks one last time, unless Redis is unreachable, and gives the receivers a few seconds. */
    async [Symbol.asyncDispose](): Promise<void> {
      if (store.redis.status === 'ready') {
        void runAside(tick());
        await Promise.all(running);
      }
      await resources.disposeAsync();
    },
  };
}

async function put(id: string, notice: Notice, receivers: readonly OpenReceiver[]): Promise<void> {
  const those = receivers.filter(({ on }) => on.includes(notice.event));
  await Promise.all(those.map(({ outbox }) => outbox.put(id, notice)));
}

function waysTo(
  receiver: Omit<Receiver, 'on'>,
  deps: Deps,
  resources: AsyncDisposableStack,
): Way[] {
  const { webhook, command } = receiver;
  const route = (deps.input.network ?? DIRECT).toNotice(receiver);
  const { env: all, redactLine } = deps.input.notices ?? NO_SURROUNDINGS;
  const env = Object.fromEntries(
    Object.entries(all).filter(([name]) => !name.startsWith('PO_SYNC_')),
  );
  const cwd = dirname(deps.config.file);
  const redacted = (notice: Notice): Notice => JSON.parse(redactLine(JSON.stringify(notice)));
  const ways: Way[] = [];
  if (webhook !== undefined) {
    const http = resources.use(openHttp({ connections: 2, route }));
    ways.push({
      receiver: `webhook ${new URL(webhook).host}`,
      identity: webhook,
      send: (notice, signal) =>
        callWebhook(webhook, redacted(notice), { http, timeout: TIMEOUT, signal }),
    });
  }
  if (command !== undefined)
    ways.push({
      receiver: `command ${command[0]}`,
      identity: JSON.stringify(command),
      send: (notice, signal) =>
        runCommand(command, redacted(notice), { env, cwd, timeout: TIMEOUT, signal }),
    });
  return ways;
}
