import type { Batches } from '../ledger/batches.ts';

export type HeldBatches = ReturnType<typeof createHeldBatches>;

/** Knows which batches are held, as far as Redis said at the last look. */
export function createHeldBatches(batches: Pick<Batches, 'held' | 'hold'>, onReleased: (batch: string) => void) {
  let held = new Set<string>();
  let holds = 0;

  /** Looks again; call now and then. */
  async function refresh(): Promise<void> {
    const before = holds;
    const now = new Set(await batches.held());
    // What was read while a hold was on its way may not show it yet.
    if (holds !== before) return;
    for (const batch of held) if (!now.has(batch)) onReleased(batch);
    held = now;
  }

  /** Holds a batch until a person releases it; false when it was held already. */
  async function hold(batch: string, reason: string, at: number): Promise<boolean> {
    held.add(batch);
    holds += 1;
    try {
      return await batches.hold(batch, reason, at);
    } finally {
      holds += 1;
    }
  }

  return { refresh, hold, has: (batch: string) => held.has(batch) };
}
