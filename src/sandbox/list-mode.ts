import type * as z from 'zod';
import type { StoredAt } from './database.ts';
import { type Between, duration, share, span } from './faults/values.ts';

/** What the list shows of the orders, and whether `limit` and `offset` count. */
export type ListMode = {
  /** Shows only so many orders, whatever is asked. */
  cut?: { keep: 'newest' | 'oldest'; most: number };
  /** `limit` counts, at most `size`, which is also the default; `offset` counts too or not. Absent: both are ignored. */
  paging?: { size: number; hasOffset: boolean };
  /** Refuses every query parameter. */
  strict?: true;
  /** Shows an order only so long after it was stored; drawn once for each order, in milliseconds. */
  lag?: Between;
  /** Does not show orders older than this, in milliseconds. */
  archive?: number;
  /** Shows each order with this probability, drawn anew in every read. */
  part?: number;
  /** Another client stores an order before every read. */
  grows?: true;
};

/** The notation of list modes; parts can be joined by `+`, such as `paged:50+lag:2s`. */
export const LIST_MODES =
  'all, newest:N, oldest:N, paged:N, paged, limited, strict, lag:TIME, archive:TIME, part:SHARE, grows, or several joined by +';

/** Reads a list mode; undefined if the text is none. */
export function listModeOf(text: string): ListMode | undefined {
  const parts = text.split('+').map(partOf);
  const mode: ListMode = Object.assign({}, ...parts);
  const isOnce = Object.keys(mode).length === parts.flatMap((one) => Object.keys(one ?? {})).length;
  return isOnce && !parts.includes(undefined) ? mode : undefined;
}

function partOf(part: string): ListMode | undefined {
  const [, name, , value] = /^([a-z]+)(:(.+))?$/.exec(part) ?? [];
  const isPlain = value === undefined;
  const whole = /^\d{1,9}$/.test(value ?? '') ? Number(value) : undefined;
  switch (name) {
    case 'all':
      return isPlain ? {} : undefined;
    case 'strict':
    case 'grows':
      return isPlain ? { [name]: true } : undefined;
    case 'newest':
    case 'oldest':
      return whole === undefined ? undefined : { cut: { keep: name, most: whole } };
    case 'paged':
    case 'limited': {
      const size = isPlain ? Number.POSITIVE_INFINITY : (whole ?? 0);
      return size > 0 ? { paging: { size, hasOffset: name === 'paged' } } : undefined;
    }
    case 'lag':
      return read(span, value, (lag) => ({ lag }));
    case 'archive':
      return read(duration, value, (archive) => ({ archive }));
    case 'part':
      return read(share, value, (one) => ({ part: one }));
    default:
      return undefined;
  }
}

function read<T>(
  notation: z.ZodType<T>,
  value: string | undefined,
  made: (value: T) => ListMode,
): ListMode | undefined {
  const found = notation.safeParse(value);
  return found.success ? made(found.data) : undefined;
}

/** One read of the list; `draw` returns a number from 0 to below 1, always the same for a key. */
export type ListRead = {
  query: URLSearchParams;
  nth: number;
  now: number;
  draw: (key: string) => number;
};

/** The ids of the orders that a read shows, or the reason for a 400. */
export function shownIn(
  mode: ListMode,
  stored: readonly StoredAt[],
  { query, nth, now, draw }: ListRead,
): number[] | string {
  const { cut, paging, lag, archive, part } = mode;
  const ids = stored.flatMap(({ id, storedAt }) => {
    const age = now - storedAt;
    const isLate = lag && age < lag.least + (lag.most - lag.least) * draw(`lag ${id}`);
    const isArchived = archive !== undefined && age > archive;
    const isLeftOut = part !== undefined && draw(`part ${nth} ${id}`) >= part;
    return isLate || isArchived || isLeftOut ? [] : [id];
  });
  const kept = cut === undefined ? ids : cutTo(ids, cut);
  if (mode.strict && query.size > 0) return 'query parameters are not supported';
  if (paging === undefined) return kept;
  const [limit, offset] = [query.get('limit') ?? paging.size, query.get('offset') ?? '0'];
  if (typeof limit === 'string' && !/^[1-9]\d{0,8}$/.test(limit))
    return 'limit must be a whole number from 1';
  if (!/^\d{1,9}$/.test(offset)) return 'offset must be a whole number from 0';
  const from = paging.hasOffset ? Number(offset) : 0;
  return kept.slice(from, from + Math.min(Number(limit), paging.size));
}

function cutTo(ids: number[], { keep, most }: NonNullable<ListMode['cut']>): number[] {
  return keep === 'oldest' ? ids.slice(0, most) : ids.slice(Math.max(0, ids.length - most));
}
