/** Who does the work. */
export const CONTENDERS = ['po-sync', 'undici', 'fetch', 'bullmq', 'node-red', 'bare'] as const;

export type ContenderName = (typeof CONTENDERS)[number];

/** One line of the table: what was measured, with every single sample, one of each round. */
export type Line = {
  what: string;
  unit: 'orders/s' | 'µs' | 'ms' | 'MB' | 'B' | '%' | '×' | '';
  samples: Partial<Record<ContenderName, number[]>>;
  /** More is better, and the others are shown with what multiple of them po-sync reaches. */
  compared?: boolean;
  targets?: Target[];
};

/** What is to be reached, and what was: `value` compared with `limit`. */
export type Target = { text: string; value: number; limit: number; sense: 'at least' | 'at most' };

export function isMet({ value, limit, sense }: Target): boolean {
  return sense === 'at least' ? value >= limit : value <= limit;
}
