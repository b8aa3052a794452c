import { setTimeout as delay } from 'node:timers/promises';

/** Waits until `check` gives something else than undefined or false, and gives that; fails after `within` ms. */
export async function until<T>(
  what: string,
  check: () => T | Promise<T>,
  within = 60_000,
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + within;
  for (;;) {
    const found = await check();
    if (found !== undefined && found !== false) return found as Exclude<T, undefined | false>;
    if (performance.now() > deadline) throw new Error(`waited ${within} ms in vain: ${what}`);
    await delay(20);
  }
}
