import type { Clock } from '../../src/core/clock.ts';
import type { Journals } from '../../src/journal/folder.ts';
import type { Checkpoint, CheckpointStore } from '../../src/ledger/identity.ts';
import { journalsInMemory } from '../support/journals-in-memory.ts';
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
  /** What people decided, on the disk that all machines share. */
  decisions: Map<string, string>;
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

/** Takes as long as a disk; of a process that dies meanwhile, nothing is kept. */
export function journalsOn(
  host: Host,
  { timeline, decisions }: Pick<Surroundings, 'timeline' | 'decisions'>,
): Journals {
  const journals = journalsInMemory(decisions);
  const append: Journals['append'] = (name, text) =>
    new Promise((resolve, reject) =>
      timeline.plan(
        timeline.now() + 5,
        () => void journals.append(name, text).then(resolve, reject),
        host,
      ),
    );
  return { ...journals, append };
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
