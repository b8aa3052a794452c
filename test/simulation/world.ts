import { commandTable } from './commands.ts';
import { type Line, openConnections } from './connection.ts';
import { planDrops } from './drops.ts';
import { type Fate, openFate } from './fate.ts';
import { type Files, openFiles } from './files.ts';
import { openJobs } from './jobs.ts';
import type { FaultFound } from './judge.ts';
import { type Machine, startMachine } from './machine.ts';
import { planMishaps } from './mishaps.ts';
import { type Call, openNetwork } from './network.ts';
import { openPartnerApi, type PartnerApi } from './partner-api.ts';
import { type Deeds, openPeople } from './people.ts';
import { startPulse } from './pulse.ts';
import { seededRandom } from './random.ts';
import { EPOCH, KEYS } from './setting.ts';
import { ledgerTime, openStore, type Store } from './store.ts';
import type { Surroundings } from './surroundings.ts';
import { type Host, openTimeline } from './timeline.ts';
import { type Breach, type Weather, weatherOf } from './weather.ts';
import { openWitness } from './witness.ts';

/** A world after its end: what the API stored, and what the ledger came to. */
export type World = {
  seed: number;
  weather: Weather;
  api: PartnerApi;
  store: Store;
  files: Files;
  deeds: Deeds;
  /** When Redis forgot something. */
  rolledBackAt: number | undefined;
  /** False when something was still waiting when the world was aborted. */
  ended: boolean;
  turns: number;
  /** Requests that left a process. */
  sent: number;
  /** Every call, and when orders were accepted. */
  calls: readonly Call[];
  successes: readonly number[];
  fates: Fate['tally'];
  /** Intents that were given back before their first byte. */
  givenBack: number;
  /** What was seen to go wrong at once. */
  seen: readonly FaultFound[];
  /** Orders that were sent to show whether the list is complete. */
  named: ReadonlySet<string>;
  troubles: readonly unknown[];
};

export type LiveOptions = {
  breach?: Breach | undefined;
  change?: Partial<Weather>;
  /** A world that has not ended after so many turns is aborted. */
  mostTurns?: number;
  /** Called with everything that happens, one line each. */
  tell?: ((line: string) => void) | undefined;
};

const MOST_TURNS = 120_000;
const COMMANDS = commandTable();

/** Runs one world from its seed to its end. */
export async function live(
  seed: number,
  { breach, change = {}, mostTurns = MOST_TURNS, tell }: LiveOptions = {},
): Promise<World> {
  const random = seededRandom(seed);
  const weather: Weather = { ...weatherOf(random), ...change };
  const timeline = openTimeline(random);
  const line: Line = { lost: weather.lostByStore, awayUntil: 0, clockAhead: 0 };
  const store = openStore(() => EPOCH + timeline.now() + line.clockAhead);
  const troubles: unknown[] = [];
  const machines: Machine[] = [];
  const deaths = new Map<Host, () => void>();
  const commands = breach === 'pause unnoticed' ? commandTable(breach) : COMMANDS;
  const story =
    tell &&
    ((who: string, what: string) => tell(`${(timeline.now() / 1000).toFixed(3)} ${who}: ${what}`));
  const onTrouble = (error: unknown) => void troubles.push(error);
  let tokens = 1;
  const token = () => `token-${tokens}`;
  const revoke = () => {
    tokens += 1;
  };
  const api = openPartnerApi({ timeline, random, weather, breach, story });
  const canaries = () => grownCanaries(store, weather);
  const jobs = openJobs({ store, timeline, random, weather, workers: () => machines });
  const files = openFiles({ timeline, random, store, machines, onTrouble });
  const witness = openWitness({ timeline, store, deeds: () => people.deeds });
  const around: Omit<Surroundings, 'disk'> = {
    timeline,
    random,
    weather,
    breach,
    jobs,
    files,
    decisions: new Map(),
    token,
    witness,
    story,
    onTrouble,
    connections: openConnections({ store, timeline, random, line, commands }),
    network: openNetwork({
      timeline,
      random,
      weather,
      breach,
      api,
      token,
      witness,
      story,
      canaries,
    }),
    epoch: () => store.hget(KEYS.identity, 'epoch') ?? '',
  };
  const onDeath = (host: Host) => deaths.get(host)?.();
  const fate = openFate({ timeline, random, weather, story, onDeath, onWaking: jobs.offer });
  timeline.onTurnOf(fate.survives);

  /** Starts a process, and another one in its place whenever it dies. */
  function boot(place: number, disk: Surroundings['disk']): void {
    const host: Host = {
      name: `m${place}.${deaths.size}`,
      alive: true,
      frozenUntil: 0,
      slept: 0,
      skew: 0,
    };
    machines[place] = startMachine(host, { ...around, disk }, jobs.offer);
    deaths.set(host, () =>
      timeline.plan(timeline.now() + random.between(500, 60_000), () => boot(place, disk)),
    );
  }

  for (let place = 0; place < weather.machines; place += 1) {
    boot(place, { trace: { epoch: '', sequence: 0 } });
  }
  const mishaps = planMishaps({
    timeline,
    random,
    weather,
    store,
    line,
    jobs,
    machines,
    fate,
    story,
    revoke,
  });
  planDrops({ random, weather, files, api, timeline });
  const people = openPeople({ around, api, files, store });
  const expects = mishaps.stillToCome;
  const pulse = startPulse({ timeline, random, store, weather, files, machines, people, expects });
  await withoutIntervals(random.next, () => timeline.run(mostTurns));

  return {
    seed,
    weather,
    api,
    store,
    files,
    deeds: people.deeds,
    rolledBackAt: mishaps.rolledBackAt(),
    ended: pulse.hasEnded(),
    turns: timeline.turns(),
    sent: around.network.sent(),
    calls: around.network.calls,
    successes: around.network.successes,
    fates: fate.tally,
    givenBack: witness.intentsGivenBack(),
    seen: witness.seen,
    named: witness.named,
    troubles,
  };
}

/** No lease is ever renewed here: a lease spares work, and nothing may depend on it. Every chance follows the seed. */
async function withoutIntervals(random: () => number, run: () => Promise<void>): Promise<void> {
  const { setInterval } = globalThis;
  const { random: chance } = Math;
  Object.assign(globalThis, { setInterval: () => undefined });
  Object.assign(Math, { random });
  try {
    await run();
  } finally {
    Object.assign(globalThis, { setInterval });
    Object.assign(Math, { random: chance });
  }
}

/** Orders that every good list holds, as the verifier will know them. */
function grownCanaries(store: Store, { settle }: Weather): string[] {
  // A ledger rebuild does not judge the list that it gets, and its proof has no canary yet.
  const isDue = store.hget(KEYS.listProof, 'proof') === 'due';
  if (isDue || store.hget(KEYS.rebuild, 'why') !== null) return [];
  const grown = store
    .ranked(KEYS.canaries)
    .filter(([, since]) => ledgerTime(store, KEYS.identity) - since >= 2 * settle + 1000);
  return grown.map(([number]) => number);
}
