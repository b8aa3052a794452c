import type { Checkpoint } from '../../src/ledger/identity.ts';
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

/** Jobs at the same time, beyond one for each call. */
const MORE = 2;

/** Starts a daemon; `onUp` is told when it takes work. */
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
    onUp();
    return parts;
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
