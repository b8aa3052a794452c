import type { CheckedOrder } from '../../src/order/checked-order.ts';
import { commandTable } from './commands.ts';
import { openConnections, type Line } from './connection.ts';
import { type Files, openFiles } from './files.ts';
import { openJobs } from './jobs.ts';
import { type Chore, EPOCH, KEYS, type Machine, startMachine } from './machine.ts';
import { openNetwork } from './network.ts';
import { openPartnerApi, type PartnerApi } from './partner-api.ts';
import { type Random, seededRandom } from './random.ts';
import { type Data, openStore, type Store } from './store.ts';
import { type Host, openTimeline, type Timeline } from './timeline.ts';
import { type Breach, calm, type Weather, weatherOf } from './weather.ts';

/** A world after its end: what the API stored, and what the ledger came to. */
export type World = {
  seed: number;
  weather: Weather;
  api: PartnerApi;
  store: Store;
  files: Files;
  orders: readonly CheckedOrder[];
  /** When Redis forgot something. */
  rolledBackAt: number | undefined;
  /** False when something was still waiting when the world was given up. */
  ended: boolean;
  turns: number;
  troubles: unknown[];
};

const MOST_TURNS = 400_000;
const commands = commandTable();

export type LiveOptions = {
  breach?: Breach | undefined;
  change?: Partial<Weather>;
  /** Told of everything that happens, one line each. */
  tell?: ((line: string) => void) | undefined;
};

/** Lives one world from its seed to its end. */
export async function live(seed: number, { breach, change = {}, tell }: LiveOptions = {}): Promise<World> {
  const random = seededRandom(seed);
  const weather: Weather = { ...weatherOf(random), ...change };
  const timeline = openTimeline(random);
  const store = openStore(() => EPOCH + timeline.now());
  const line: Line = { lost: weather.lostByStore, awayUntil: 0 };
  const troubles: unknown[] = [];
  const machines: Machine[] = [];
  const story = tell && ((who: string, what: string) => tell(`${(timeline.now() / 1000).toFixed(3)} ${who}: ${what}`));
  let tokens = 1;
  const token = () => `token-${tokens}`;
  const connections = openConnections({ store, timeline, random, line, commands });
  const api = openPartnerApi({ timeline, random, weather, breach, story });
  const network = openNetwork({
    ...{ timeline, random, weather, breach, api, token, story },
    canary: () => grownCanary(store, weather, random),
  });
  const jobs = openJobs({ store, timeline, random, weather, workers: () => machines });
  const files = openFiles({ random, weather, store, machines: () => machines, onTrouble });

  function onTrouble(error: unknown): void {
    troubles.push(error);
  }

  function boot(name: string, disk: { trace: { life: string; seq: number } }): void {
    const host: Host = { name: `${name}.${machines.length}`, alive: true, frozenUntil: 0, slept: 0 };
    const place = machines.findIndex((machine) => machine.host.name.startsWith(`${name}.`));
    const life = () => store.hget(KEYS.identity, 'life') ?? '';
    const machine = startMachine(host, {
      ...{ timeline, random, weather, breach, connections, jobs, network, token, life, disk, onUp: jobs.offer, onTrouble, story },
    });
    if (place < 0) machines.push(machine);
    else machines[place] = machine;
    onDeath.set(host, () => timeline.plan(timeline.now() + random.between(500, 60_000), () => boot(name, disk)));
  }

  /** A rollback is still to come. */
  let forgetting = false;
  let rolledBackAt: number | undefined;
  const onDeath = new Map<Host, () => void>();
  /** Whose witness is needed, and until when. */
  const spared = new Map<Host, number>();
  timeline.onTurnOf((host) => {
    if ((spared.get(host) ?? 0) > timeline.now()) return true;
    if (random.chance(weather.crash)) {
      host.alive = false;
      story?.(host.name, 'dies');
      onDeath.get(host)?.();
      return false;
    }
    if (!random.chance(weather.freeze)) return true;
    const span = weather.longestFreeze ** random.next();
    host.frozenUntil = timeline.now() + span;
    if (random.chance(weather.suspends)) host.slept += span;
    timeline.plan(host.frozenUntil + 1, jobs.offer);
    story?.(host.name, `stands still until ${(host.frozenUntil / 1000).toFixed(3)}`);
    return false;
  });

  for (let i = 0; i < weather.machines; i += 1) {
    timeline.plan(random.between(0, 2000), () => boot(`m${i}`, { trace: { life: '', seq: 0 } }));
  }
  planEvents();
  timeline.plan(1000, pulse);
  await timeline.run(MOST_TURNS);

  function planEvents(): void {
    const sometime = () => random.between(0, weather.calmAt);
    for (let i = 0; i < weather.revokes; i += 1) timeline.plan(sometime(), () => void (tokens += 1));
    for (let i = 0; i < weather.storeOutages; i += 1) timeline.plan(sometime(), () => outage(random.between(100, 90_000)));
    if (weather.rollback !== 'none') planRollback(weather.rollback, sometime());
    timeline.plan(weather.calmAt, () => {
      calm(weather);
      line.lost = 0;
    });
  }

  function outage(span: number, then: () => void = () => undefined): void {
    line.awayUntil = Math.max(line.awayUntil, timeline.now() + span);
    story?.('Redis', `is away until ${(line.awayUntil / 1000).toFixed(3)}`);
    timeline.plan(line.awayUntil, () => {
      then();
      for (const machine of machines) {
        timeline.plan(timeline.now() + random.between(0, 1000), machine.reconnected, machine.host);
      }
    });
  }

  function planRollback(kind: 'flush' | 'empty' | 'older', at: number): void {
    forgetting = true;
    const forget = (older: Data | undefined) => {
      forgetting = false;
      if (older && !isMissed(older)) return;
      rolledBackAt = timeline.now();
      story?.('Redis', older ? 'comes back as it was before' : 'forgets everything');
      store.restore(older);
      jobs.restored();
    };
    if (kind === 'flush') timeline.plan(at, () => forget(undefined));
    if (kind === 'empty') timeline.plan(at, () => outage(random.between(100, 60_000), () => forget(undefined)));
    if (kind !== 'older') return;
    timeline.plan(at, () => {
      const older = store.copy();
      story?.('Redis', 'is copied');
      const from = timeline.now() + random.between(5_000, 120_000);
      timeline.plan(from, () => outage(random.between(100, 60_000), () => forget(older)));
    });
  }

  /** Whether somebody awake knows that the ledger had come further (assumption A1). */
  function isMissed(older: Data): boolean {
    const { life, seq } = Object.fromEntries(older.hashes.get(KEYS.identity) ?? []);
    const witness = machines.find(({ host, isUp, knows }) => {
      if (!isUp() || host.frozenUntil > timeline.now()) return false;
      return knows().life === life && knows().seq > Number(seq);
    });
    if (witness) spared.set(witness.host, timeline.now() + 10_000);
    return witness !== undefined;
  }

  /** The loops of all processes: whatever has something to do is done by somebody, sooner or later. */
  function pulse(): void {
    if (hasEnded()) {
      // What wakes late may bring something to do back.
      if (timeline.planned() > 0) timeline.plan(timeline.now() + 20_000, pulse);
      return;
    }
    const up = machines.filter(({ host, isUp }) => isUp() && host.frozenUntil <= timeline.now());
    if (up.length > 0) {
      files.look();
      const chore = random.pick(choresDue());
      const machine = random.pick(up);
      timeline.plan(timeline.now(), () => machine.tick(chore), machine.host);
    }
    timeline.plan(nextPulse(), pulse);
  }

  function choresDue(): Chore[] {
    const now = EPOCH + timeline.now();
    const chores: Chore[] = ['house'];
    if ((store.lowest(KEYS.due) ?? Number.POSITIVE_INFINITY) <= now) chores.push('sweep', 'sweep');
    if ((store.lowest(KEYS.doubt) ?? Number.POSITIVE_INFINITY) <= now) chores.push('verify', 'verify');
    if (store.hget(KEYS.takeOver, 'why') !== null) chores.push('takeOver', 'takeOver');
    return chores;
  }

  /** Soon while anything moves; else when the next order is due. */
  function nextPulse(): number {
    const soon = timeline.now() + random.between(100, 4000);
    if (store.jobs().size > 0 || files.isReading() || store.hget(KEYS.takeOver, 'why') !== null) return soon;
    const due = Math.min(store.lowest(KEYS.due) ?? 0, store.lowest(KEYS.doubt) ?? Number.POSITIVE_INFINITY) - EPOCH;
    return Math.max(soon, Math.min(due, timeline.now() + weather.settle));
  }

  function hasEnded(): boolean {
    const quiet = store.zcard(KEYS.due) + store.zcard(KEYS.doubt) === 0;
    return quiet && files.allDone() && !forgetting && store.hget(KEYS.takeOver, 'why') === null && timeline.now() > 5000;
  }

  const { orders } = files;
  return { seed, weather, api, store, files, orders, rolledBackAt, ended: hasEnded(), turns: timeline.turns(), troubles };
}

/** One of the orders that every good list holds, as the verifier will know them. */
function grownCanary(store: Store, { settle }: Weather, random: Random): string | undefined {
  // A take-over does not judge the list that it is given.
  if (store.hget(KEYS.takeOver, 'why') !== null) return undefined;
  const grown = store.ranked(KEYS.canaries).filter(([, since]) => store.now() - since >= 2 * settle + 1000);
  return grown.length === 0 ? undefined : random.pick(grown)[0];
}
