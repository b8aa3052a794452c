import type { Files } from './files.ts';
import { type Draft, goodItems, isRefused, makeDrafts, ordersIn } from './orders.ts';
import type { PartnerApi } from './partner-api.ts';
import type { Random } from './random.ts';
import type { Timeline } from './timeline.ts';
import type { Weather } from './weather.ts';

type Deps = { timeline: Timeline; random: Random; weather: Weather; files: Files; api: PartnerApi };

/** Plans the files of a world: one or two in an inbox, and versions of an export; and what the API has before them. */
export function planDrops({ timeline, random, weather, files, api }: Deps): void {
  const drafts = makeDrafts(weather, random);
  const half = random.chance(0.5) ? drafts.length : Math.ceil(drafts.length / 2);
  const later = random.chance(0.5) ? random.between(0, weather.calmAt) : 0;
  files.drop(0, () => ({ orders: ordersIn(drafts.slice(0, half)) }));
  if (half < drafts.length) files.drop(later, () => ({ orders: ordersIn(drafts.slice(half)) }));
  planExport(drafts);
  const good = drafts.filter(
    ({ number, items }) => number !== '' && items !== undefined && !isRefused(items),
  );
  for (const { number, items } of good.slice(0, weather.hadBefore))
    api.hadBefore(number, items ?? []);
  for (let i = 0; i < weather.others && good.length > 0; i += 1) {
    const { number } = random.pick(good);
    const at = random.chance(0.5) ? 0 : random.between(0, weather.calmAt);
    timeline.plan(at, () => api.storeOther(number, [{ articleCode: 'OTHER', quantity: 9 }]));
  }

  /** Each version repeats the one before, with orders that were corrected, changed, added or left out. */
  function planExport(inbox: readonly Draft[]): void {
    let rows = [...inbox.filter(() => random.chance(0.1)), ...own()].slice(0, 12);
    const first = rows;
    for (let version = 0; version < weather.exports; version += 1) {
      const shown = rows;
      files.drop(random.between(0, 1.2 * weather.calmAt), () => ({
        orders: ordersIn(shown),
        kind: 'export',
      }));
      rows = rows.filter(() => random.chance(0.9)).map(changed);
    }
    // A person drops one by hand, too: its orders wait for those in progress.
    if (weather.exports > 0)
      files.drop(random.between(0, weather.calmAt), () => ({ orders: ordersIn(first) }));
  }

  function own(): Draft[] {
    return makeDrafts({ ...weather, orders: 8 }, random).map((one) => ({
      ...one,
      number: one.number.replace('PO', 'E'),
    }));
  }

  function changed(draft: Draft): Draft {
    if (draft.number === '' || !random.chance(0.2)) return draft;
    // After a rollback the ledger may not know the content that the API has.
    const quantity = weather.rollback === 'none' ? 1 + random.below(2) : 1;
    return { ...draft, items: goodItems(quantity) };
  }
}
