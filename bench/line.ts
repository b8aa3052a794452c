/** The program that does the work. */
export const CONTENDERS = ['po-sync', 'undici', 'fetch', 'bullmq'] as const;

export type ContenderName = (typeof CONTENDERS)[number];

/** One line of the table: what was measured, with one sample per round. */
export type Line = {
  what: string;
  unit: 'orders/s' | 'µs' | 'ms' | 'MB' | 'B' | '%' | '×' | '';
  samples: Partial<Record<ContenderName, number[]>>;
  /** More is better; the table shows the ratio of po-sync to each other contender. */
  compared?: boolean;
  targets?: Target[];
};

/** A goal and its result: `value` compared with `limit`. */
export type Target = { text: string; value: number; limit: number; sense: 'at least' | 'at most' };

export function isMet({ value, limit, sense }: Target): boolean {
  return sense === 'at least' ? value >= limit : value <= limit;
}
