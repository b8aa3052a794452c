import { describe, expect, it } from 'vitest';
import type { Seen } from '../../src/api/classify.ts';
import { type AttemptEnd, attempt } from '../../src/deliver/attempt.ts';
import type { Line } from '../../src/deliver/may-begin.ts';
import type { Turn } from '../../src/deliver/places.ts';
import { type Entry, INTENT_FRESH } from '../../src/ledger/entry.ts';
import type { Step } from '../../src/ledger/state-machine/step.ts';
import { capturedLog } from '../support/captured-log.ts';
import { entryOf, policy } from '../support/entry.ts';

// A machine cannot be suspended here, so its clocks are made up; the simulation and test/faults freeze processes.

type World = {
  /** How long the intent took to become durable, by each clock; then how long it waited for a place. */
  took?: { monotonic: number; wall: number };
  turn?: Turn;
  waited?: number;
  /** What happens while the intent waits for its place. */
  meanwhile?: 'held' | 'paused' | 'revoked' | 'stopped' | 'Redis was lost';
  isHeldFromConnection?: boolean;
  /** It tests whether the API accepts orders again, and is still there or was cancelled while it waited. */
  probe?: 'there' | 'cancelled';
  /** The connection opens only after the call timed out. */
  connectsLate?: boolean;
};

type Tried = {
  turns: number;
  passedOn: number;
  written: boolean;
  released: boolean;
  end: AttemptEnd;
  steps: Step[];
};

/** One attempt in that world. */
async function tryOne({
  took,
  turn = 'at once',
  waited = 0,
  meanwhile,
  isHeldFromConnection = false,
  probe,
  connectsLate = false,
}: World) {
  const now = { monotonic: 1_000, wall: 1_700_000_000_000 };
  const seen: Omit<Tried, 'end'> = {
    turns: 0,
    passedOn: 0,
    written: false,
    released: false,
    steps: [],
  };
  const happened = { connected: false, taken: false };
  let connect = async () => false;
  const stopping = new AbortController();
  const isNow = (what: World['meanwhile']) => happened.taken && meanwhile === what;
  const pass = (monotonic: number, wall: number) => {
    now.monotonic += monotonic;
    now.wall += wall;
  };
  const create = async (
    _token: unknown,
    _order: unknown,
    prepare: () => Promise<boolean>,
  ): Promise<Seen> => {
    happened.connected = true;
    if (connectsLate) connect = prepare;
    else seen.written = await prepare();
    return { kind: 'unsent', said: { code: 'not-sent', message: 'no connection' } };
  };
  const line = {
    context: {
      clock: { monotonic: () => now.monotonic, now: () => now.wall },
      store: {
        time: { now: () => now.wall, sync: async () => undefined },
        isSteady: () => !isNow('Redis was lost'),
      },
      log: capturedLog().log,
      stopping: stopping.signal,
    },
    book: {
      policy,
      ledger: {
        inFlight: new Set<string>(),
        lookup: async () => [
          probe === 'there' ? { kind: 'open', entry: entryOf() } : { kind: 'nothing' },
        ],
        take: async (_: Entry, step: Step) => {
          if (seen.steps.length === 0) pass(took?.monotonic ?? 5, took?.wall ?? 5);
          seen.steps.push(step);
          return true;
        },
      },
    },
    queue: { nameJob: () => 'c-2', add: async () => undefined },
    partner: {
      timeout: 30_000,
      tokens: { get: async () => ({ value: 'token' }), isCurrent: () => !isNow('revoked') },
      create,
    },
    breaker: {
      pass: async () => (probe === undefined ? 'closed' : 'probe'),
      probeMayBegin: async () => {
        seen.turns += 1;
        return true;
      },
      passOn: async () => {
        seen.passedOn += 1;
      },
      acceptedSince: async () => false,
      sawNoHold: () => undefined,
      stillPasses: async () => !isNow('paused'),
    },
    guards: {
      held: { has: () => (happened.connected && isHeldFromConnection) || isNow('held') },
      rate: { turn: async () => 'at once' },
      refusals: { take: () => undefined },
      health: { note: async () => undefined },
    },
    on: { outcome: () => undefined, accepted: () => undefined },
  } as unknown as Line;
  const place = {
    enter: () => 'at once' as const,
    leave: () => undefined,
    answered: () => undefined,
    take: async () => {
      happened.taken = true;
      pass(waited, waited);
      if (meanwhile === 'stopped') stopping.abort();
      return turn;
    },
    release: () => {
      seen.released = true;
    },
  };
  const end = await attempt(line, entryOf(), place, line.context.clock.monotonic());
  const stepsBefore = seen.steps.length;
  seen.written ||= await connect();
  return { ...seen, end, begunLate: seen.steps.length - stepsBefore, ...happened };
}

async function isWritten(world: World): Promise<boolean> {
  return (await tryOne(world)).written;
}

describe('an order', () => {
  it('is written while its intent is fresh', async () => {
    expect(await isWritten({ took: { monotonic: INTENT_FRESH - 1, wall: INTENT_FRESH - 1 } })).toBe(
      true,
    );
    expect(await isWritten({ turn: 'waited', waited: INTENT_FRESH - 10 })).toBe(true);
  });

  it('that tries for the others takes its turn, and hands it on without one if it was cancelled while it waited', async () => {
    expect(await tryOne({ probe: 'there' })).toMatchObject({
      written: true,
      turns: 1,
      passedOn: 0,
    });
    expect(await tryOne({ probe: 'cancelled' })).toMatchObject({
      written: false,
      turns: 0,
      passedOn: 1,
      steps: [],
    });
  });

  it('is not written by a process that was suspended after its intent', async () => {
    expect(await isWritten({ took: { monotonic: INTENT_FRESH, wall: INTENT_FRESH } })).toBe(false);
  });

  it('is not written by a machine that was suspended after the intent: one clock is enough to notice', async () => {
    expect(await isWritten({ took: { monotonic: 5, wall: 600_000 } })).toBe(false);
    expect(await isWritten({ took: { monotonic: 600_000, wall: 5 } })).toBe(false);
  });

  it('is not written if its batch was held while its connection was opened', async () => {
    expect(await isWritten({ isHeldFromConnection: true })).toBe(false);
  });
});

describe('a connection that opens after its call timed out', () => {
  it('gets no intent and no place, which nobody would give back', async () => {
    expect(await tryOne({ connectsLate: true })).toMatchObject({
      written: false,
      taken: false,
      begunLate: 0,
      end: { kind: 'done' },
    });
  });
});

describe('an intent that waited for a place', () => {
  const back = { kind: 'move', entry: { state: 'queued', attempt: 0, job: entryOf().job } };

  it.each<[string, World, AttemptEnd['kind']]>([
    [
      'was made with a token that expired meanwhile, also without a wait',
      { meanwhile: 'revoked' },
      'again',
    ],
    ['got no place in time', { turn: 'late' }, 'again'],
    ['is no longer fresh', { turn: 'waited', waited: INTENT_FRESH }, 'again'],
    ['met a pause', { turn: 'waited', meanwhile: 'paused' }, 'again'],
    ['was made with a token that is revoked', { turn: 'waited', meanwhile: 'revoked' }, 'again'],
    [
      'met a Redis that was lost just before, also without a wait',
      { meanwhile: 'Redis was lost' },
      'again',
    ],
    [
      'met the loss of Redis while it waited',
      { turn: 'waited', meanwhile: 'Redis was lost' },
      'again',
    ],
    ['is of a batch that is held', { turn: 'waited', meanwhile: 'held' }, 'held'],
    ['met the stop of its daemon', { turn: 'waited', meanwhile: 'stopped' }, 'stopped'],
    ['waited when its daemon stopped', { turn: 'stopped' }, 'stopped'],
  ])(
    'is given back unwritten, and the attempt does not count, when it %s',
    async (_, world, kind) => {
      const { written, end, steps } = await tryOne(world);
      expect(written).toBe(false);
      expect(steps).toMatchObject([{ entry: { state: 'sending', attempt: 1 } }, back]);
      expect(end.kind).toBe(kind);
      if (end.kind === 'again') expect(end.entry).toMatchObject(back.entry);
    },
  );
});
