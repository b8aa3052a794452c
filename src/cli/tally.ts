/** How often each verdict occurred. */
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
