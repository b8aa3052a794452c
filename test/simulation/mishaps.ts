import type { Line } from './connection.ts';
import type { Fate } from './fate.ts';
import type { Jobs } from './jobs.ts';
import type { Machine } from './machine.ts';
import type { Random } from './random.ts';
import { KEYS } from './setting.ts';
import type { Data, Store } from './store.ts';
import type { Story } from './story.ts';
import type { Timeline } from './timeline.ts';
import { calm, type Weather } from './weather.ts';

type Deps = {
  timeline: Timeline;
  random: Random;
  weather: Weather;
  store: Store;
  line: Line;
  jobs: Jobs;
  machines: readonly Machine[];
  fate: Fate;
  story: Story | undefined;
  /** The API takes no token that it gave before. */
  revoke: () => void;
};

/** Plans what happens to all processes at once: tokens revoked, Redis away, Redis set back; and in the end calm. */
export function planMishaps(deps: Deps) {
  const { timeline, random, weather, store, line, jobs, machines, fate, story } = deps;
  let forgetting = weather.rollback !== 'none';
  let rolledBackAt: number | undefined;

  for (let i = 0; i < weather.revokes; i += 1) timeline.plan(sometime(), deps.revoke);
  for (let i = 0; i < weather.storeOutages; i += 1) {
    timeline.plan(sometime(), () => outage(random.between(100, 90_000)));
  }
  for (let i = 0; i < weather.clockJumps; i += 1) timeline.plan(sometime(), jump);
  for (let i = 0; i < weather.redisSteps; i += 1) timeline.plan(sometime(), step);
  planRollback(sometime());
  timeline.plan(weather.calmAt, () => {
    calm(weather);
    line.lost = 0;
  });

  function sometime(): number {
    return random.between(0, weather.calmAt);
  }

  /** Somebody sets the wall clock of a machine. A machine that sleeps meanwhile has no other clock. */
  function jump(): void {
    if (weather.suspends > 0) return;
    const { host } = random.pick(machines);
    host.skew += random.pick([-3_600_000, 3_600_000]);
    story?.(host.name, 'has its clock set by an hour');
  }

  /** Somebody sets the clock of Redis, or a replica with another clock takes over. */
  function step(): void {
    const span = random.pick([-1, 1]) * 1_000 * 3_600 ** random.next();
    line.clockAhead += span;
    story?.('Redis', `has its clock set by ${Math.round(span / 1000)} s`);
  }

  function outage(span: number, then: () => void = () => undefined): void {
    line.awayUntil = Math.max(line.awayUntil, timeline.now() + span);
    story?.('Redis', `is away until ${(line.awayUntil / 1000).toFixed(3)}`);
    timeline.plan(line.awayUntil, () => {
      then();
      for (const { reconnected, host } of machines) {
        timeline.plan(timeline.now() + random.between(0, 1000), reconnected, host);
      }
    });
  }

  function planRollback(at: number): void {
    const onward = {
      none: () => undefined,
      flush: () => forget(undefined),
      empty: () => outage(random.between(100, 60_000), () => forget(undefined)),
      older: restoreLater,
    };
    timeline.plan(at, onward[weather.rollback]);
  }

  function restoreLater(): void {
    const older = store.copy();
    story?.('Redis', 'is copied');
    const from = timeline.now() + random.between(5_000, 120_000);
    timeline.plan(from, () => outage(random.between(100, 60_000), () => forget(older)));
  }

  function forget(older: Data | undefined): void {
    forgetting = false;
    if (older && !isMissed(older)) return;
    rolledBackAt = timeline.now();
    story?.('Redis', older ? 'comes back as it was before' : 'forgets everything');
    store.restore(older);
    jobs.restored();
  }

  /** Whether somebody awake knows that the ledger had come further (assumption A1). */
  function isMissed(older: Data): boolean {
    const { epoch, sequence } = Object.fromEntries(older.hashes.get(KEYS.identity) ?? []);
    const witness = machines.find(({ host, isUp, knows }) => {
      if (!isUp() || host.frozenUntil > timeline.now()) return false;
      return knows().epoch === epoch && knows().sequence > Number(sequence);
    });
    if (witness) fate.spare(witness.host, 10_000);
    return witness !== undefined;
  }

  return {
    /** A rollback is still to come. */
    stillToCome: () => forgetting,
    /** When Redis forgot something. */
    rolledBackAt: () => rolledBackAt,
  };
}
