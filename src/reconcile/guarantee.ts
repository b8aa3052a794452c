import { formatDuration } from '../config/fields.ts';
import { duration, orders } from '../core/format.ts';
import { TWICE_REMEDY, twiceText } from '../ledger/adopt.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';

/** What was found of the API's list: it has every order at once or by pages, only those of late, lacks some in silence, or is not offered. */
export type ListKind = 'complete' | 'paged' | 'archive' | 'cut' | 'notOffered';

/** An assumption of docs/guarantees.md that is measured; `once`: the list shows no order twice. */
export type Assumption = 'A2' | 'A3' | 'A4' | 'A5' | 'once';

/** How an assumption held in the last 30 days. */
export type Guarantee = {
  assumption: Assumption;
  /** Null: too little was seen. */
  holds: boolean | null;
  /** Orders, or for A4 and `once` complete lists. */
  samples: number;
  /** A2 and A3: milliseconds. A4: what the list is. A5 and `once`: orders for which it does not hold. */
  measured: number | ListKind | null;
  /** A2 and A3: a list still lacked an order after so many milliseconds, so `measured` is more. */
  atLeast?: number;
  /** A2 and A3: `settle` as a multiple of what was measured. */
  margin: number | null;
  /** A2 and A3: a longer `delivery.settle`, as it is written in the configuration. */
  propose?: string;
};

/**
 * The shortest time that agrees with every list, in milliseconds: the longest after which one lacked an order, and the
 * shortest beyond it after which one showed an order.
 */
export type Bracket = { samples: number; atLeast: number; atMost: number };

/** What lists showed in a day, or in several. `respelled`: orders that a list shows under another spelling only. */
export type Seen = { lists: number; respelled: number; late?: Bracket; lag?: Bracket };

/** `overdue`: created orders that no list has shown `settle` after their answer; the oldest was missing for `longest`. */
export type Measures = {
  seen: Seen;
  kind: ListKind | undefined;
  twice: number;
  overdue: { orders: number; longest: number };
};

export const NOTHING_SEEN: Seen = { lists: 0, respelled: 0 };

const DAY = 86_400_000;
/** How long a measure is kept, in days. */
const KEPT = 30;
/** `settle` should be so many times what was measured. */
const SAFETY = 2;
/** What a person would write, in seconds, up to the longest `settle`. */
const PROPOSALS = [1, 60, 3_600].flatMap((unit) =>
  [1, 2, 3, 5, 10, 15, 20, 24, 30, 45].map((n) => n * unit),
);

/** Joins what is known of a time with more of it. */
export function joinBrackets(
  one: Bracket | undefined,
  other: Bracket | undefined,
): Bracket | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const atLeast = Math.max(one.atLeast, other.atLeast);
  const atMost = Math.min(
    ...[one, other].map((each) => each.atMost).filter((most) => most > atLeast),
  );
  return { samples: one.samples + other.samples, atLeast, atMost };
}

export function joinSeen(one: Seen, other: Seen): Seen {
  const [late, lag] = [joinBrackets(one.late, other.late), joinBrackets(one.lag, other.lag)];
  const [lists, respelled] = [one.lists + other.lists, one.respelled + other.respelled];
  return { lists, respelled, ...(late && { late }), ...(lag && { lag }) };
}

/** Judges what was measured. `settle` in milliseconds. */
export function judgeGuarantee(
  { seen, kind, twice, overdue }: Measures,
  settle: number,
): Guarantee[] {
  const { lists, late, lag, respelled } = seen;
  const stored = judgeTime(late, settle);
  const shown = lag?.samples ?? 0;
  return [
    // An order in doubt is looked for after a settle: what the first list shows was stored in time.
    { assumption: 'A2', ...stored, holds: stored.holds ?? (late ? true : null) },
    { assumption: 'A3', ...judgeTime(withOverdue(lag, overdue), settle) },
    {
      assumption: 'A4',
      holds: kind === undefined ? null : kind !== 'cut' && kind !== 'notOffered',
      samples: lists,
      measured: kind ?? null,
      margin: null,
    },
    { assumption: 'A5', ...judgeCount(respelled, shown + respelled) },
    { assumption: 'once', ...judgeCount(twice, Math.max(lists, Math.min(twice, 1))) },
  ];
}

function withOverdue(lag: Bracket | undefined, { orders: waiting, longest }: Measures['overdue']) {
  if (waiting === 0) return lag;
  return joinBrackets(lag, {
    samples: waiting,
    atLeast: longest,
    atMost: Number.POSITIVE_INFINITY,
  });
}

function judgeTime(known: Bracket | undefined, settle: number): Omit<Guarantee, 'assumption'> {
  if (known === undefined) return { holds: null, samples: 0, measured: null, margin: null };
  const { samples, atLeast, atMost } = known;
  const holds = atLeast >= settle ? false : atMost <= settle ? true : null;
  const measured = atMost === Number.POSITIVE_INFINITY ? atLeast : atMost;
  const margin = holds === null ? null : Math.round((100 * settle) / Math.max(1, measured)) / 100;
  const propose = proposalFor(known, settle);
  return { holds, samples, measured, atLeast, margin, ...(propose && { propose }) };
}

/** Only what a list proved asks for a longer settle: lists that are seldom read show every order late. */
function proposalFor({ atLeast, atMost }: Bracket, settle: number): string | undefined {
  if (atMost === Number.POSITIVE_INFINITY || SAFETY * atLeast <= settle) return undefined;
  const needed = SAFETY * Math.min(atMost, SAFETY * atLeast);
  const seconds = PROPOSALS.find((each) => 1_000 * each >= needed);
  return seconds === undefined || seconds > DAY / 1_000
    ? undefined
    : formatDuration(1_000 * seconds);
}

function judgeCount(count: number, samples: number): Omit<Guarantee, 'assumption'> {
  return {
    holds: samples === 0 ? null : count === 0,
    samples,
    measured: samples === 0 ? null : count,
    margin: null,
  };
}

type Place = { redis: Redis; keys: Pick<Keys, 'guarantee' | 'unseen' | 'listedTwice'> };

/** Reads and judges what the daemons of the environment measured until `now`, in ledger time. */
export async function readGuarantee(
  { redis, keys }: Place,
  { settle, now }: { settle: number; now: number },
): Promise<Guarantee[]> {
  const [fields, [, oldest], twice] = await Promise.all([
    redis.hgetall(keys.guarantee),
    redis.zrange(keys.unseen, 0, '0', 'WITHSCORES'),
    redis.hlen(keys.listedTwice),
  ]);
  const days = Object.entries(fields).filter(([field]) => isKept(field, now));
  const seen = days.map(([, day]) => JSON.parse(day) as Seen).reduce(joinSeen, NOTHING_SEEN);
  const { listed = '0', cut } = fields;
  const kind = cut ? 'cut' : fields['kind'];
  const before = Number(listed) - settle;
  const late = Number(oldest) <= before ? await redis.zcount(keys.unseen, '-inf', before) : 0;
  const overdue = { orders: late, longest: late === 0 ? 0 : Number(listed) - Number(oldest) };
  return judgeGuarantee({ seen, kind: kind as ListKind | undefined, twice, overdue }, settle);
}

/** The field of `keys.guarantee` for a day. */
export function dayOf(now: number): string {
  return String(Math.floor(now / DAY));
}

/** Whether a field of `keys.guarantee` is a day whose measures count. */
export function isKept(field: string, now: number): boolean {
  return /^\d+$/.test(field) && Number(dayOf(now)) - Number(field) < KEPT;
}

/** Those of which something is known; orders that are listed twice are shown in another place. */
export function measuredOnes(all: readonly Guarantee[]): Guarantee[] {
  return all.filter(({ assumption, measured }) => measured !== null && assumption !== 'once');
}

export function needsAttention({ holds, propose }: Guarantee): boolean {
  return holds === false || propose !== undefined;
}

/** What was measured, as a clause. */
export function guaranteeText({ assumption, holds, measured, atLeast = 0 }: Guarantee): string {
  const time = typeof measured === 'number' ? duration(measured) : '';
  const missing = `a list lacked an order ${duration(atLeast)} after`;
  switch (assumption) {
    case 'A2':
      return holds === false
        ? `${missing} its call had timed out, and a later one showed it`
        : `calls without an answer were stored within ${time}`;
    case 'A3':
      return holds === false
        ? `${missing} it was created`
        : `created orders are in the list within ${time}`;
    case 'A4':
      return KINDS[measured as ListKind];
    case 'A5':
      return measured === 0
        ? 'the list shows each number as it was sent'
        : `the list shows ${orders(Number(measured))} under another spelling of the number`;
    case 'once':
      return measured === 0 ? 'the list shows no order twice' : twiceText(Number(measured));
  }
}

const KINDS: Record<ListKind, string> = {
  complete: 'the list is complete',
  paged: 'the list is complete, read by pages',
  archive: 'the list no longer shows old orders',
  cut: 'the list lacks orders that it must show',
  notOffered: 'the API does not offer its list',
};

/** What a person can do about an assumption that fails, or nearly does. */
export function guaranteeRemedy({ assumption, holds, propose }: Guarantee): string | undefined {
  if (propose !== undefined) return `Set delivery.settle to ${propose}.`;
  if (holds !== false) return undefined;
  switch (assumption) {
    case 'A2':
    case 'A3':
    case 'A4':
      return "Ask the API's owner for the complete list, and how soon it shows an order.";
    case 'A5':
      return "Ask the API's owner to keep order numbers as they are sent.";
    case 'once':
      return TWICE_REMEDY;
  }
}
