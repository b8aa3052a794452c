import type { Checkpoint } from '../../src/ledger/identity.ts';
import { BEAT } from '../../src/operate/heartbeat.ts';
import type { Worker } from './jobs.ts';
import { type Chore, openParts, type Parts } from './parts.ts';
import type { Surroundings } from './surroundings.ts';
import type { Host } from './timeline.ts';

/** A daemon from its start to its death. */
export type Machine = Worker & {
  host: Host;
  isUp: () => boolean;
  /** Its hands for files. */
  intake(): Promise<Pick<Parts, 'admit' | 'batches'>>;
  /** One round of a chore, unless one is under way. */
  tick(chore: Chore): void;
  /** The connection to Redis came back. */
  reconnected: () => void;
  /** How far it saw the ledger come. */
  knows: () => Checkpoint;
};

/** What a daemon does at a fixed rate, whatever there is to do: milliseconds between two rounds (`src/daemon.ts`). */
const ROUNDS: readonly (readonly [chore: Chore, pause: number])[] = [
  ['clock', 1_000],
  ['heartbeat', BEAT],
];
/** How much later than at its time a round begins, as a share of the pause. */
const LATE = 0.3;
/** After the last fault no clock is set, so nobody asks for a heartbeat. Milliseconds. */
const BEATS_AFTER_CALM = 10_000;

/** Jobs at the same time, beyond one for each call. */
const MORE = 2;

/** Starts a daemon; `onUp` is called when it takes work. */
export function startMachine(host: Host, around: Surroundings, onUp: () => void): Machine {
  const connection = around.connections.connect(host);
  let up = false;
  let jobs = 0;
  let knows = (): Checkpoint => around.disk.trace;
  const busy = new Set<Chore>();
  const started = start();

  async function start(): Promise<Parts> {
    const parts = await openParts(host, around, connection);
    knows = parts.known;
    await parts.establish();
    await parts.prepare();
    up = true;
    around.story?.(host.name, 'is up');
    for (const [chore, pause] of ROUNDS) repeat(chore, pause);
    onUp();
    return parts;
  }

  function repeat(chore: Chore, pause: number): void {
    const { timeline, weather, random } = around;
    if (timeline.now() > weather.calmAt + BEATS_AFTER_CALM) return;
    tick(chore);
    timeline.plan(
      timeline.now() + pause * random.between(1, 1 + LATE),
      () => repeat(chore, pause),
      host,
    );
  }

  async function work(job: Parameters<Worker['work']>[0]): Promise<readonly string[]> {
    jobs += 1;
    try {
      return await (await started).deliverJob(job);
    } finally {
      jobs -= 1;
    }
  }

  function tick(chore: Chore): void {
    if (busy.has(chore)) return;
    busy.add(chore);
    started
      .then(({ chores }) => chores[chore]())
      .catch(around.onTrouble)
      .finally(() => busy.delete(chore));
  }

  return {
    host,
    work,
    tick,
    ask: connection.ask,
    isUp: () => up && host.alive,
    isFree: () => up && jobs < around.weather.calls + MORE,
    intake: () => started,
    knows: () => knows(),
    reconnected: () => void started.then(({ establish }) => establish()).catch(around.onTrouble),
  };
}
