import type { Said } from '../api/classify.ts';
import type { ListEnd, ListedOrder, ListQuery, ReadList } from '../api/list.ts';
import { addShown, countShared, fingerprintOf, type ShownNumbers } from './shown-numbers.ts';

/** Whether the API answers its list in pages. `unknown`: it refuses the question. */
export type Paging = 'no' | 'yes' | 'unknown';

/** Orders that one request asks for; an API may answer with fewer. */
const PAGE = 1_000;
/** Two passes in a row must agree; an API that changes faster than it can be read is tried later. */
const MOST_PASSES = 5;
/** Pages in a row that show nothing new: then the API ignores `offset`. */
const MOST_REPEATS = 2;
/** Pages beyond three times as many as full ones would need: then the list has no end. */
const SPARE_PAGES = 10;

/**
 * Asks whether the list is one page of more: `limit=1` and `offset=N` must show nothing less than
 * the `first` read, with its N orders, did. Where they do, a second plain read keeps an effect apart
 * from orders that were removed meanwhile. A failed end: the question has no answer this time.
 */
export async function askPaging(
  list: ReadList,
  first: ShownNumbers,
): Promise<Paging | Exclude<ListEnd, { kind: 'complete' }>> {
  if (first.size < 2) return 'unknown';
  for (const query of [{ limit: 1 }, { offset: first.size }]) {
    const { end, shown } = await readShown(list, query);
    if (end.kind !== 'complete') return isRefused(end) ? 'unknown' : end;
    if (countShared(first, shown) === first.size) continue;

    const again = await readShown(list);
    if (again.end.kind !== 'complete') return again.end;
    return countShared(first, again.shown) === first.size ? 'yes' : 'unknown';
  }
  return 'no';
}

/** Statuses that say nothing about the parameters. */
const ABOUT_OTHERS = new Set([401, 408, 425, 429]);

/** The API does not take these parameters. */
function isRefused({ said: { httpStatus = 0 } }: Exclude<ListEnd, { kind: 'complete' }>): boolean {
  return httpStatus >= 400 && httpStatus < 500 && !ABOUT_OTHERS.has(httpStatus);
}

/** One request, and the numbers that it showed. */
async function readShown(list: ReadList, query?: ListQuery) {
  const shown = new Set<number>();
  const end = await list(({ purchaseOrderNumber }) => addShown(shown, purchaseOrderNumber), query);
  return { end, shown };
}

/** What one pass over all pages showed: every order of it, and where new ones are. */
type Pass = { shown: Set<number>; hasNewBetween: boolean };

/**
 * Reads a list that has pages, again from the start until two passes agree on what there was before
 * the second one: it shows all that the first did, and what is new only before or behind that.
 * Each order is passed on once, or as often as one page shows it.
 */
export async function readPages(
  list: ReadList,
  onOrder: (order: ListedOrder) => void,
): Promise<ListEnd> {
  const passedOn = new Set<string>();
  let before: Pass | undefined;
  for (let passes = 1; passes <= MOST_PASSES; passes += 1) {
    const pass = await readPass(list, before?.shown, onOrder, passedOn);
    if ('kind' in pass) return pass;
    if (before !== undefined && agrees(before, pass))
      return { kind: 'complete', orders: pass.shown.size };
    before = pass;
  }
  return failed('list-unstable', `the pages of the list changed in each of ${MOST_PASSES} reads`);
}

function agrees(before: Pass, pass: Pass): boolean {
  const areAllShown = countShared(before.shown, pass.shown) === before.shown.size;
  return areAllShown && !pass.hasNewBetween;
}

/** One pass, on by the rows received, until an empty page. */
async function readPass(
  list: ReadList,
  before: ShownNumbers | undefined,
  onOrder: (order: ListedOrder) => void,
  passedOn: Set<string>,
): Promise<Pass | Exclude<ListEnd, { kind: 'complete' }>> {
  const pass: Pass = { shown: new Set(), hasNewBetween: false };
  const place = { hasOld: false, hasNewSince: false };
  let size: { limit?: number } = { limit: PAGE };
  let [offset, pages, largest, repeats] = [0, 0, 0, 0];

  for (;;) {
    const inPage = new Set<string>();
    const known = pass.shown.size;
    const take = (order: ListedOrder) => {
      const { purchaseOrderNumber: number } = order;
      if (!passedOn.has(number) || (before === undefined && inPage.has(number))) onOrder(order);
      passedOn.add(number);
      inPage.add(number);
      addShown(pass.shown, number);
      if (before === undefined) return;
      if (!before.has(fingerprintOf(number))) place.hasNewSince = place.hasOld;
      else {
        pass.hasNewBetween ||= place.hasNewSince;
        place.hasOld = true;
      }
    };
    const end = await list(take, { ...size, offset });
    if (end.kind !== 'complete') {
      // The API may not give as many orders at once.
      // An API that has shown pages offers a list.
      if (offset > 0) return { kind: 'failed', said: end.said };
      if (!isRefused(end) || size.limit === undefined) return end;
      size = {};
      continue;
    }
    if (end.orders === 0) return pass;
    // Orders that come in front of the others move some from one page to the next.
    repeats = pass.shown.size === known ? repeats + 1 : 0;
    if (repeats > MOST_REPEATS)
      return failed('list-unstable', `the list repeats its page at offset ${offset}`);
    offset += end.orders;
    pages += 1;
    largest = Math.max(largest, end.orders);
    if (pages > SPARE_PAGES + 3 * Math.ceil(offset / largest))
      return failed('list-unstable', 'the list grows faster than its pages can be read');
  }
}

function failed(code: string, message: string): { kind: 'failed'; said: Said } {
  return { kind: 'failed', said: { code, message } };
}
