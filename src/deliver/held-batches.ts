import type { Batches } from '../ledger/batches/batches.ts';

export type HeldBatches = ReturnType<typeof createHeldBatches>;

/** Knows which batches are held, as Redis said at the last refresh. */
export function createHeldBatches(batches: Pick<Batches, 'held' | 'hold'>, onReleased: (batch: string) => void) {
  let held = new Set<string>();
  let holds = 0;
  /** Holds on their way to Redis: what it answers meanwhile may lack them. */
  let storing = 0;

  /** Reads the held batches from Redis; call about twice a second. */
  async function refresh(): Promise<void> {
    const before = holds;
    if (storing > 0) return;
    const now = new Set(await batches.held());
    // A result that was read while a hold was being stored may lack it.
    if (holds !== before) return;
    for (const batch of held) if (!now.has(batch)) onReleased(batch);
    held = now;
  }

  /** Holds a batch until a person releases it; false when it was held already. */
  async function hold(batch: string, reason: string, at: number): Promise<boolean> {
    held.add(batch);
    holds += 1;
    storing += 1;
    try {
      return await batches.hold(batch, reason, at);
    } finally {
      storing -= 1;
    }
  }

  return { refresh, hold, has: (batch: string) => held.has(batch) };
}
