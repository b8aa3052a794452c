import { dueTime } from '../../src/ledger/ledger.ts';
import type { Files } from './files.ts';
import type { Machine } from './machine.ts';
import { STICKY_ORDER } from './network.ts';
import type { Chore } from './parts.ts';
import type { People } from './people.ts';
import type { Random } from './random.ts';
import { KEYS } from './setting.ts';
import { isStuckOnList } from './standing.ts';
import { ledgerTime, type Store } from './store.ts';
import type { Timeline } from './timeline.ts';
import type { Weather } from './weather.ts';

type Deps = {
  timeline: Timeline;
  random: Random;
  store: Store;
  weather: Weather;
  files: Files;
  machines: readonly Machine[];
  people: People;
  /** Something is still to happen to all. */
  expects: () => boolean;
};

const START = 5_000;
/** How long after the last random fault an order may still try. */
const PATIENCE = 3_600_000;
/** How likely a person acts in one beat when delivery asks for one. */
const ASKED = 0.02;

/** Begins the loops of all processes: whatever has something to do is done by somebody, sooner or later. */
export function startPulse({
  timeline,
  random,
  store,
  weather,
  files,
  machines,
  people,
  expects,
}: Deps) {
  let endedAt: number | undefined;
  timeline.plan(1000, beat);

  function beat(): void {
    if (hasEnded()) {
      rest();
      return;
    }
    endedAt = undefined;
    if (timeline.now() > 1.2 * weather.calmAt && people.areNeeded() && !isTakingOver())
      people.tidy();
    if (people.areAsked() && random.chance(ASKED)) people.prove();
    const up = machines.filter(({ host, isUp }) => isUp() && host.frozenUntil <= timeline.now());
    if (up.length > 0) {
      files.look();
      const chore = random.pick(choresDue());
      const machine = random.pick(up);
      if (chore !== 'rest') timeline.plan(timeline.now(), () => machine.tick(chore), machine.host);
    }
    timeline.plan(next(), beat);
  }

  /** What wakes late may bring something to do back; a job that waits out a pause may wait forever. */
  function rest(): void {
    endedAt ??= timeline.now();
    if (timeline.now() > endedAt + PATIENCE) timeline.end();
    else if (timeline.planned() > 0) timeline.plan(timeline.now() + 20_000, beat);
  }

  function choresDue(): (Chore | 'rest')[] {
    const now = ledgerTime(store, KEYS.identity);
    const chores: (Chore | 'rest')[] = ['house', 'rest', 'rest'];
    if (firstDue() <= now) chores.push('sweep', 'sweep', 'sweep');
    if (firstInDoubt() <= now) chores.push('verify', 'verify', 'verify');
    if (store.members(KEYS.finished).size > 0) chores.push('settle', 'settle', 'settle');
    if (isTakingOver()) chores.push('rebuild', 'rebuild', 'rebuild');
    if (isProving() || random.chance(0.05)) chores.push('prove', 'prove');
    return chores;
  }

  /** Soon while anything moves; else when the next order is due. */
  function next(): number {
    const soon = timeline.now() + random.between(100, 4000);
    if (
      store.jobs().size > 0 ||
      files.isReading() ||
      isTakingOver() ||
      isProving() ||
      store.members(KEYS.finished).size > 0
    )
      return soon;
    const due = Math.min(firstDue(), firstInDoubt());
    return due === Number.POSITIVE_INFINITY
      ? soon
      : Math.max(
          soon,
          timeline.now() + Math.min(due - ledgerTime(store, KEYS.identity), weather.settle),
        );
  }

  /** Also of orders that are parked: the sweeper looks at them, too. */
  function firstDue(): number {
    return Math.min(...store.ranked(KEYS.due).map(([, score]) => dueTime(score)));
  }

  function firstInDoubt(): number {
    return store.lowest(KEYS.doubt) ?? Number.POSITIVE_INFINITY;
  }

  function isTakingOver(): boolean {
    return store.hget(KEYS.rebuild, 'why') !== null;
  }

  /** One order was sent, and the list must show it. */
  function isProving(): boolean {
    return store.hget(KEYS.listProof, 'turn') !== null;
  }

  /**
   * Only the order that never gets through waits to be sent, delivery is paused with a reason, and no list ended the
   * doubts: that may last forever.
   */
  function isPausedForGood(): boolean {
    if (timeline.now() < weather.calmAt + PATIENCE || store.hget(KEYS.breaker, 'code') === null)
      return false;
    return (
      store.ranked(KEYS.due).every(([number]) => number === STICKY_ORDER) && !files.isReading()
    );
  }

  function hasEnded(): boolean {
    if (timeline.now() <= START || expects() || people.stillToCome()) return false;
    const isLate = timeline.now() >= weather.calmAt + PATIENCE;
    if (isLate && isStuckOnList(store, weather, people.deeds)) return store.zcard(KEYS.doubt) === 0;
    if (isTakingOver()) return false;
    if (weather.stickyOrder !== 'none' && isPausedForGood()) return true;
    return store.zcard(KEYS.due) + store.zcard(KEYS.doubt) === 0 && files.allDone();
  }

  return { hasEnded };
}
