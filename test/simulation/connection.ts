import type { Redis } from '../../src/redis/connect.ts';
import { type Command, flatten } from './commands.ts';
import type { Random } from './random.ts';
import type { Store } from './store.ts';
import type { Host, Timeline } from './timeline.ts';

/** Milliseconds, as in `src/redis/connection-end.ts`. */
const OTHERS_BACK = 5_000;

type Sent = {
  run: () => unknown;
  resolve: (answer: unknown) => void;
};

/** How the way to Redis is: the share of batches that are lost before or after they ran, and when it is away altogether. */
export type Line = {
  lost: number;
  /** Redis answers nobody before this time. */
  awayUntil: number;
  /** How far Redis' clock is wrong. */
  clockAhead: number;
};

export type Connections = ReturnType<typeof openConnections>;

/** One process' client; `ask` is for what is no plain command. */
export type Connection = {
  redis: Redis;
  ask: <T>(run: () => T) => Promise<T>;
  isSteady: () => boolean;
};

type Deps = {
  store: Store;
  timeline: Timeline;
  random: Random;
  line: Line;
  commands: Readonly<Record<string, Command>>;
};

/**
 * Connections to the simulated Redis with the manners of ioredis: what is asked in one turn travels together, commands
 * run in the order of their connection, an outage is waited out, and what got no answer is sent once more.
 */
export function openConnections({ store, timeline, random, line, commands }: Deps) {
  const client = clientOf(store, commands);
  const filled = new Set<() => void>();
  timeline.onPause(() => {
    for (const flush of filled) flush();
    filled.clear();
  });

  function connect(host: Host): Connection {
    let waiting: Sent[] = [];
    let free = 0;

    function flush(): void {
      const batch = waiting;
      waiting = [];
      travel(batch, timeline.now() + random.between(0.1, 3));
    }

    function travel(batch: readonly Sent[], at: number): void {
      const arrives = Math.max(at, free, line.awayUntil);
      free = arrives;
      timeline.plan(arrives, () => arrive(batch));
    }

    function arrive(batch: readonly Sent[]): void {
      const isLost = line.awayUntil > timeline.now() || random.chance(line.lost);
      const answers = isLost ? undefined : batch.map(({ run }) => run());
      // Whoever waits for Redis tries again; whoever is dead does not.
      if (answers === undefined || random.chance(line.lost)) again(batch);
      else
        timeline.plan(timeline.now() + random.between(0.1, 3), () => deliver(batch, answers), host);
    }

    function again(batch: readonly Sent[]): void {
      const pause = Math.max(random.between(50, 3000), line.awayUntil - timeline.now());
      timeline.plan(timeline.now() + pause, () => travel(batch, timeline.now()), host);
    }

    function deliver(batch: readonly Sent[], answers: readonly unknown[]): void {
      // An outage that began meanwhile has taken the answers with it.
      if (line.awayUntil > timeline.now()) again(batch);
      else for (const [i, { resolve }] of batch.entries()) resolve(answers[i]);
    }

    function ask<T>(run: () => T): Promise<T> {
      return new Promise<T>((resolve) => {
        if (waiting.length === 0) filled.add(flush);
        waiting.push({ run, resolve: (answer) => resolve(answer as T) });
      });
    }

    const redis = Object.assign(Object.create(client), { ask });
    // As `watchSteadiness` does.
    const isSteady = () => line.awayUntil === 0 || timeline.now() >= line.awayUntil + OTHERS_BACK;
    return { redis, ask, isSteady };
  }

  return { connect };
}

type Asking = { ask: Connection['ask'] };
type Queueing = Asking & { queued: (() => unknown)[] };

/** The commands that delivery uses, and no others: what all connections of a world inherit. */
function clientOf(store: Store, commands: Deps['commands']): object {
  const chain: Record<string, unknown> = {
    exec(this: Queueing) {
      return this.ask(() => this.queued.map((run) => [null, run()]));
    },
  };
  const client: Record<string, unknown> = {
    /** MULTI … EXEC: its commands run together. */
    multi(this: Asking) {
      return Object.assign(Object.create(chain), { ask: this.ask, queued: [] });
    },
  };
  for (const [name, command] of Object.entries(commands)) {
    client[name] = function (this: Asking, ...args: unknown[]) {
      return this.ask(() => command(store, flatten(args)));
    };
    chain[name] = function (this: Queueing, ...args: unknown[]) {
      this.queued.push(() => command(store, flatten(args)));
      return this;
    };
  }
  return client;
}
