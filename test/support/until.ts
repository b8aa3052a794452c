import { setTimeout as delay } from 'node:timers/promises';

/** Far beyond what any condition needs: a slow machine must not fail a test that only takes its time. */
const LIMIT = 900_000;

/** Waits until `check` gives something else than undefined or false, and gives that; fails after a long time. */
export async function until<T>(
  what: string,
  check: () => T | Promise<T>,
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + LIMIT;
  for (;;) {
    const began = performance.now();
    const found = await check();
    if (found !== undefined && found !== false) return found as Exclude<T, undefined | false>;
    if (performance.now() > deadline) throw new Error(`waited in vain: ${what}`);
    // A check that starts a command would take most of the processor if it never paused for as long.
    await delay(Math.min(Math.max(performance.now() - began, 20), 300));
  }
}
