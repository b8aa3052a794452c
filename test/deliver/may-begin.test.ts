import { expect, it } from 'vitest';
import type { HttpEnd } from '../../src/core/http.ts';
import { attempt, type Line } from '../../src/deliver/attempt.ts';
import { INTENT_FRESH } from '../../src/ledger/entry.ts';
import { capturedLog } from '../support/captured-log.ts';
import { entryOf, policy } from '../support/entry.ts';

// A machine cannot be suspended here, so its clocks are made up; the simulation and test/faults freeze whole processes.

/**
 * Whether an order is written whose intent took so long to become durable, by each of the two clocks, and whose batch
 * is held from its connection on.
 */
async function isWritten(intentTook: { monotonic: number; wall: number }, isHeld = false): Promise<boolean> {
  const now = { monotonic: 1_000, wall: 1_700_000_000_000 };
  let written = false;
  let connected = false;
  const take = async () => {
    now.monotonic += intentTook.monotonic;
    now.wall += intentTook.wall;
    return true;
  };
  const create = async (_token: unknown, _order: unknown, prepare: () => Promise<boolean>): Promise<HttpEnd> => {
    connected = true;
    written = await prepare();
    return { kind: 'unsent', error: new Error('no connection') };
  };
  const line = {
    context: {
      clock: { monotonic: () => now.monotonic, now: () => now.wall },
      store: { time: { now: () => now.wall, sync: async () => undefined } },
      log: capturedLog().log,
      stopping: new AbortController().signal,
    },
    book: { policy, ledger: { take } },
    queue: { nameJob: () => 'c-2', add: async () => undefined },
    partner: { timeout: 30_000, tokens: { get: async () => ({ value: 'token' }) }, create },
    breaker: { pass: async () => 'open', acceptedSince: async () => false },
    guards: {
      held: { has: () => connected && isHeld },
      rate: { turn: async () => 'at once' },
      refusals: { take: () => undefined },
      health: { note: async () => undefined },
    },
    on: { outcome: () => undefined, accepted: () => undefined },
  } as unknown as Line;
  await attempt(line, entryOf(), () => undefined);
  return written;
}

it('an order is written while its intent is fresh', async () => {
  expect(await isWritten({ monotonic: INTENT_FRESH - 1, wall: INTENT_FRESH - 1 })).toBe(true);
});

it('an order is not written by a process that stood still after its intent', async () => {
  expect(await isWritten({ monotonic: INTENT_FRESH, wall: INTENT_FRESH })).toBe(false);
});

it('an order is not written by a machine that was suspended after the intent: one clock is enough to notice', async () => {
  expect(await isWritten({ monotonic: 5, wall: 600_000 })).toBe(false);
  expect(await isWritten({ monotonic: 600_000, wall: 5 })).toBe(false);
});

it('an order is not written whose batch was held while its connection was opened', async () => {
  expect(await isWritten({ monotonic: 5, wall: 5 }, true)).toBe(false);
});
