/** Counts verdicts by their name. */
export type Tally<Verdict extends string> = {
  add(verdict: Verdict): void;
  counts(): Partial<Record<Verdict, number>>;
  total(): number;
};

export function tallyOf<Verdict extends string>(): Tally<Verdict> {
  const counts: Partial<Record<Verdict, number>> = {};
  let total = 0;
  return {
    add(verdict) {
      counts[verdict] = (counts[verdict] ?? 0) + 1;
      total += 1;
    },
    counts: () => ({ ...counts }),
    total: () => total,
  };
}

const PAGE = 100;

/** What comes one at a time, in pages. */
export async function* pages<T>(all: AsyncIterable<T>): AsyncGenerator<T[]> {
  let page: T[] = [];
  for await (const one of all) {
    page.push(one);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
