import { backoff } from '../../src/core/backoff/backoff.ts';
import type { Clock } from '../../src/core/clock.ts';
import type { Checkpoint, CheckpointStore } from '../../src/ledger/identity.ts';
import type { Policy } from '../../src/ledger/transitions/step.ts';
import type { Connections } from './connection.ts';
import type { Jobs } from './jobs.ts';
import type { Network } from './network.ts';
import type { Random } from './random.ts';
import { EPOCH } from './setting.ts';
import type { Story } from './story.ts';
import type { Host, Timeline } from './timeline.ts';
import type { Breach, Weather } from './weather.ts';

/** What a process finds around itself. */
export type Surroundings = {
  timeline: Timeline;
  random: Random;
  weather: Weather;
  breach: Breach | undefined;
  connections: Connections;
  jobs: Jobs;
  network: Network;
  /** The token that the API takes now. */
  token: () => string;
  /** The ledger's name in Redis just now. */
  epoch: () => string;
  /** What outlives the process on its disk. */
  disk: { trace: Checkpoint };
  story: Story | undefined;
  onTrouble: (error: unknown) => void;
};

export function clockOf(host: Host, { timeline, random }: Surroundings): Clock {
  return {
    now: () => EPOCH + timeline.now(),
    monotonic: () => timeline.now() - host.slept,
    // Timers of a busy machine are late; waits of the program may all be longer than they say.
    sleep: (ms) =>
      new Promise((resolve) => timeline.plan(timeline.now() + ms * random.between(1, 12), () => resolve(), host)),
  };
}

export function policyOf({ weather, breach, random }: Surroundings): Policy {
  const settle = breach === 'no settle' ? 0 : weather.settle;
  const span = { initial: 2_000, max: 60_000 };
  const { attempts } = weather;
  return { attempts, settle, onDoubt: 'verify', backoff: (used) => backoff(used, span, () => random.next()) };
}

export function checkpointOn(host: Host, { timeline, random, disk }: Surroundings): CheckpointStore {
  function write(trace: Checkpoint): Promise<void> {
    return new Promise((resolve) => {
      const written = () => {
        disk.trace = trace;
        resolve();
      };
      timeline.plan(timeline.now() + random.between(0, 30), written, host);
    });
  }
  return { read: async () => disk.trace, write };
}
