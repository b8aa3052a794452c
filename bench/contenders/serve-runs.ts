import type { Delivered } from './contender.ts';

/** A request to a program. `redis`: the address of a Redis for programs that need one. */
export type Task = {
  file: string;
  orders: number;
  origin: string;
  concurrency: number;
  redis?: string;
};

/**
 * Serves the bench's requests: `prepare` sets up and returns the work to be timed.
 * Exits with the bench.
 */
export function serveRuns(prepare: (task: Task) => Promise<() => Promise<void>>): void {
  process.on('message', (task: Task) => {
    run(task).then(
      (delivered) => process.send?.(delivered),
      (error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        process.exit(1);
      },
    );
  });
  process.once('disconnect', () => process.exit());

  async function run(task: Task): Promise<Delivered> {
    const work = await prepare(task);
    const before = process.cpuUsage();
    const begun = performance.now();
    await work();
    const milliseconds = performance.now() - begun;
    const { user, system } = process.cpuUsage(before);
    return { milliseconds, cpu: user + system };
  }
}
