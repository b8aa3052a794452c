import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits until `check` gives something else than undefined or false, and gives that; fails after `within` ms. The default
 * is far beyond what any condition needs: a slow machine must not fail a test that only takes its time.
 */
export async function until<T>(
  what: string,
  check: () => T | Promise<T>,
  within = 300_000,
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + within;
  for (;;) {
    const began = performance.now();
    const found = await check();
    if (found !== undefined && found !== false) return found as Exclude<T, undefined | false>;
    if (performance.now() > deadline) throw new Error(`waited ${within} ms in vain: ${what}`);
    // A check that starts a command would take most of the processor if it never paused for as long.
    await delay(Math.min(Math.max(performance.now() - began, 20), 300));
  }
}
