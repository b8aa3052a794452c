import type { Clock } from '../../src/core/clock.ts';
import type { Checkpoint, CheckpointStore } from '../../src/ledger/identity.ts';
import type { Connections } from './connection.ts';
import type { Files } from './files.ts';
import type { Jobs } from './jobs.ts';
import type { Network } from './network.ts';
import type { Random } from './random.ts';
import { EPOCH } from './setting.ts';
import type { Story } from './story.ts';
import type { Host, Timeline } from './timeline.ts';
import type { Breach, Weather } from './weather.ts';
import type { Witness } from './witness.ts';

/** What a process finds around itself. */
export type Surroundings = {
  timeline: Timeline;
  random: Random;
  weather: Weather;
  breach: Breach | undefined;
  connections: Connections;
  jobs: Jobs;
  network: Network;
  /** What the sources hold, and the reports; shared by all machines. */
  files: Files;
  /** The token that the API takes now. */
  token: () => string;
  /** The ledger's name in Redis just now. */
  epoch: () => string;
  /** What outlives the process on its disk. */
  disk: { trace: Checkpoint };
  witness: Witness;
  story: Story | undefined;
  onTrouble: (error: unknown) => void;
};

export function clockOf(
  host: Host,
  { timeline, random }: Pick<Surroundings, 'timeline' | 'random'>,
): Clock {
  return {
    now: () => EPOCH + timeline.now() + host.skew,
    monotonic: () => timeline.now() - host.slept,
    sinceBoot: () => timeline.now(),
    // Timers of a busy machine are late; waits of the program may all be longer than they say.
    sleep: (ms) =>
      new Promise((resolve) =>
        timeline.plan(timeline.now() + ms * random.between(1, 12), () => resolve(), host),
      ),
  };
}

export function checkpointOn(
  host: Host,
  { timeline, random, disk }: Surroundings,
): CheckpointStore {
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
