import type { Random } from './random.ts';

/** A process as the timeline sees it: what is planned for it happens only while it lives, and not while it is frozen. */
export type Host = {
  name: string;
  alive: boolean;
  /** Nothing of it happens before this time. */
  frozenUntil: number;
  /** How long its machine was suspended without its monotonic clock noticing. */
  slept: number;
  /** How far its wall clock is wrong. */
  skew: number;
};

type Planned = { at: number; order: number; run: () => void; host: Host | undefined };

export type Timeline = ReturnType<typeof openTimeline>;

/**
 * Virtual time. Whatever is awaited in the simulated world is planned here; between two turns every continuation in
 * JavaScript has run to its next wait, so a turn is the smallest step between which a process can die or freeze.
 */
export function openTimeline(random: Random) {
  const heap: Planned[] = [];
  let now = 0;
  let count = 0;
  let turns = 0;
  /** Asked before each turn of a host: false when it dies before it. */
  let survives: (host: Host) => boolean = () => true;
  /** Between turns: what the continuations of the last one left to be sent. */
  let between: () => void = () => undefined;

  function plan(at: number, run: () => void, host?: Host): void {
    push(heap, { at: at > now ? at : now, order: count++, run, host });
  }

  function turn(planned: Planned): void {
    const { host } = planned;
    now = planned.at;
    if (host === undefined) planned.run();
    else if (!host.alive) return;
    else if (host.frozenUntil > now || !survives(host)) defer(planned, host);
    else planned.run();
  }

  /** Runs when the host wakes; what came meanwhile comes in any order then, timers before answers too. */
  function defer(planned: Planned, host: Host): void {
    if (host.alive) plan(host.frozenUntil + random.next(), planned.run, host);
  }

  /** Runs until nothing is planned, or `most` turns have run. */
  function run(most: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const step = () => {
        try {
          between();
          const planned = pop(heap);
          if (planned === undefined || turns >= most) return resolve();
          turns += 1;
          turn(planned);
        } catch (error) {
          return reject(error);
        }
        // A tick comes only when every microtask is done, and those are the continuations of this turn.
        queueMicrotask(() => process.nextTick(step));
      };
      step();
    });
  }

  return {
    plan,
    run,
    now: () => now,
    turns: () => turns,
    /** Nothing that is planned happens. */
    end(): void {
      heap.length = 0;
    },
    /** How much is planned still. */
    planned: () => heap.length,
    onTurnOf(asked: (host: Host) => boolean): void {
      survives = asked;
    },
    onPause(done: () => void): void {
      between = done;
    },
  };
}

function isBefore(a: Planned, b: Planned): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Planned[], planned: Planned): void {
  let i = heap.length;
  heap.push(planned);
  while (i > 0) {
    const up = (i - 1) >> 1;
    const parent = heap[up];
    if (parent === undefined || !isBefore(planned, parent)) break;
    heap[i] = parent;
    i = up;
  }
  heap[i] = planned;
}

function pop(heap: Planned[]): Planned | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let i = 0;
  for (;;) {
    let down = 2 * i + 1;
    let child = heap[down];
    const right = heap[down + 1];
    if (child !== undefined && right !== undefined && isBefore(right, child)) {
      child = right;
      down += 1;
    }
    if (child === undefined || !isBefore(child, last)) break;
    heap[i] = child;
    i = down;
  }
  heap[i] = last;
  return first;
}
