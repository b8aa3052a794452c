import { dirname, join } from 'node:path';
import type { Config, Notice as Receiver } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { codeOf, toError } from '../core/errors.ts';
import { openHttp } from '../core/http.ts';
import { noticeTrouble } from '../events/notify.ts';
import type { Batch } from '../ledger/batches.ts';
import type { Log } from '../log/log.ts';
import type { Store } from '../redis/store.ts';
import { runCommand } from './command.ts';
import type { Notice, NoticeEvent } from './notice.ts';
import { createNotifier, type NotifierDeps } from './notifier.ts';
import { type Outbox, openOutbox } from './outbox.ts';
import { callWebhook } from './webhook.ts';

/** What notices may use of the process. */
export type NoticeSurroundings = {
  /** Variables that a notified program may see; ours, which may hold credentials, are left out. */
  env: Readonly<Record<string, string | undefined>>;
  /** Takes secrets out of a line of JSON. */
  redactLine: (line: string) => string;
};

type Deps = {
  config: Config;
  store: Store;
  side: Pick<NotifierDeps, 'breaker' | 'batches'>;
  clock: Clock;
  log: Log;
  surroundings?: NoticeSurroundings | undefined;
};

/** Of one call or one run of a program. */
const TIMEOUT = 10_000;

const NOTHING_AROUND: NoticeSurroundings = { env: {}, redactLine: (line) => line };

/** Tells the receivers of `notify` what they want to know. Never waited for by what delivers orders. */
export function openNotices({ config, store, side, clock, log, surroundings = NOTHING_AROUND }: Deps) {
  const resources = new AsyncDisposableStack();
  const http = resources.use(openHttp({ connections: 2 }));
  const outboxes = config.notify.flatMap((receiver) => openOutboxes(receiver));
  const notifier = createNotifier({
    ...store,
    ...side,
    clock,
    environment: config.environment,
    sources: config.sources,
    reportOf: (batch) => join(config.reports.path, batch),
    tell,
  });
  const beside = new Set<Promise<void>>();

  function openOutboxes({ on, webhook, command }: Receiver): { on: readonly NoticeEvent[]; outbox: Outbox }[] {
    const { env: all, redactLine } = surroundings;
    const env = Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith('PO_SYNC_')));
    const cwd = dirname(config.file);
    const ways = [
      webhook && {
        receiver: `webhook ${new URL(webhook).host}`,
        send: (notice: Notice, signal: AbortSignal) => callWebhook(webhook, notice, { http, timeout: TIMEOUT, signal }),
      },
      command && {
        receiver: `command ${command[0]}`,
        send: (notice: Notice, signal: AbortSignal) =>
          runCommand(command, notice, { env, cwd, timeout: TIMEOUT, signal }),
      },
    ];
    return ways.flatMap((way) => {
      if (!way) return [];
      const clean = (notice: Notice): Notice => JSON.parse(redactLine(JSON.stringify(notice)));
      const send = (notice: Notice, signal: AbortSignal) => way.send(clean(notice), signal);
      return [{ on, outbox: resources.use(openOutbox({ receiver: way.receiver, send, clock, log })) }];
    });
  }

  function tell(notice: Notice): void {
    for (const { on, outbox } of outboxes) if (on.includes(notice.event)) outbox.put(notice);
  }

  /** Nobody waits for it. */
  function aside(work: Promise<void>): void {
    const kept = work
      .catch((error: unknown) => noticeTrouble(log, { reason: codeOf(error) ?? toError(error).message }))
      .finally(() => beside.delete(kept));
    beside.add(kept);
  }

  async function tick(): Promise<void> {
    if (outboxes.length > 0) await notifier.tick();
  }

  return {
    /** Call about once a second. */
    tick,
    /** A file of the source was taken. */
    heard: (source: string, claimedAt: number): void => aside(notifier.heard(source, claimedAt)),
    /** A batch was settled by this daemon. */
    settled: (batch: Batch, needPerson: number): void => {
      if (outboxes.length > 0) aside(notifier.settled(batch, needPerson));
    },
    /** Looks a last time, unless Redis is away, and gives the receivers a short while. */
    async [Symbol.asyncDispose](): Promise<void> {
      if (store.redis.status === 'ready') {
        aside(tick());
        await Promise.all(beside);
      }
      await resources.disposeAsync();
    },
  };
}
