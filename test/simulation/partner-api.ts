import type { Item } from '../../src/order/order.ts';
import type { Random } from './random.ts';
import type { Story } from './story.ts';
import type { Timeline } from './timeline.ts';
import type { Breach, Weather } from './weather.ts';

/** An order that the API stored; `listedAt` is when its list shows it. */
export type Stored = { number: string; items: Item[]; at: number; listedAt: number };

export type PartnerApi = ReturnType<typeof openPartnerApi>;

type Deps = {
  timeline: Timeline;
  random: Random;
  weather: Weather;
  breach: Breach | undefined;
  story: Story | undefined;
};

/** Orders with this article are never taken. */
export const UNKNOWN_ARTICLE = 'NO-SUCH-ARTICLE';

/** The API itself: what it stored, which is the only record that counts, and what its list shows. */
export function openPartnerApi({ timeline, random, weather, breach, story }: Deps) {
  const stored: Stored[] = [];
  const counts = new Map<string, number>();
  const others = new Set<string>();
  const before = new Set<string>();

  const expected = new Map<string, number>();

  /** Ours, or another client's. */
  function has(number: string): boolean {
    return counts.has(number) || others.has(number);
  }

  /** Stores the order now, unless it is one that this API refuses. */
  function store(number: string, items: Item[]): void {
    if (weather.refusesDuplicates && has(number)) return;
    counts.set(number, (counts.get(number) ?? 0) + 1);
    const at = timeline.now();
    const listedAt = at + lag();
    story?.('API', `stores ${number}, in the list from ${(listedAt / 1000).toFixed(3)}`);
    stored.push({ number, items, at, listedAt });
  }

  function storeAt(at: number, number: string, items: Item[]): void {
    expected.set(number, 1 + (expected.get(number) ?? 0));
    timeline.plan(at, () => {
      expected.set(number, (expected.get(number) ?? 1) - 1);
      store(number, items);
    });
  }

  /** Another client stores an order, which the list shows at once. */
  function storeOther(number: string, items: Item[]): void {
    if (has(number)) return;
    others.add(number);
    const at = timeline.now();
    stored.push({ number, items, at, listedAt: at });
    story?.('another client', `stores ${number}`);
  }

  /** The API had this order of ours before the program's first start on this machine. */
  function hadBefore(number: string, items: Item[]): void {
    if (has(number)) return;
    before.add(number);
    counts.set(number, 1);
    stored.push({ number, items, at: 0, listedAt: 0 });
  }

  function lag(): number {
    if (breach === 'lagging list' && random.chance(0.05))
      return random.between(1, 10) * weather.settle;
    // Two settles after the attempt's end it shows at the latest: some of that went by before it was stored.
    if (random.chance(weather.stragglers)) return 1.95 * weather.settle - weather.commitWithin;
    return random.chance(0.5) ? 0 : random.between(0, weather.listedWithin);
  }

  /** What the list shows now, oldest first. */
  function list(): Stored[] {
    const now = timeline.now();
    return stored.filter(({ at, listedAt }) => listedAt <= now && now - at <= weather.archiveAfter);
  }

  /** When a request that ended here at `end` is stored, if it is stored late. */
  function lateTime(from: number, end: number): number {
    if (breach === 'late commits' && random.chance(0.05))
      return end + random.between(1, 10) * weather.settle;
    return random.between(from, end + weather.commitWithin);
  }

  return {
    stored,
    counts,
    others: others as ReadonlySet<string>,
    before: before as ReadonlySet<string>,
    has,
    /** A request that carries the order has left and is not stored yet. */
    isExpected: (number: string) => (expected.get(number) ?? 0) > 0,
    storeAt,
    storeOther,
    hadBefore,
    list,
    lateTime,
  };
}
