import { type ListMode, listModeOf } from '../list-mode.ts';
import type { Emit } from '../sandbox-options.ts';
import type { Fault, FaultFile } from './fault-file.ts';
import type { Between } from './values.ts';

/** The properties that select faults; `order` is "" without a number, `items` is JSON text if there are items. */
export type FaultedCall = {
  on: 'create' | 'list' | 'token';
  order: string;
  items?: string | undefined;
};

/** A fault that determines how the call ends. */
export type Ending = Extract<
  Fault,
  { kind: 'answer' | 'drop' | 'late' | 'cut' | 'revoke' | 'crash' }
>;

/** The faults of one call; times in milliseconds. */
export type Plan = {
  on: FaultedCall['on'];
  delayBefore: number;
  delayAfter: number;
  /** What the list shows, if that is changed. */
  show: ListMode | undefined;
  /** With a `late` ending: the delay between the end of the connection and the work. */
  lateBy: number;
  ending: Ending | undefined;
  struck: readonly Fault[];
};

/** Plans the faults of each call, and counts the calls. */
export type Planner = (call: FaultedCall) => Plan;

/** Creates the planner of a fault file; `elapsed` returns milliseconds since startup, `emit` receives each fault. */
export function planFaults(file: FaultFile, elapsed: () => number, emit?: Emit): Planner {
  const calls = { create: 0, list: 0, token: 0 };
  const attempts = new Map<string, number>();
  /** The sticky faults that affected a call without an order number. */
  const stuck = new Set<Fault>();

  function isDrawn(
    fault: Exclude<Fault, { kind: 'outage' }>,
    nth: number,
    order: string,
    key: string,
  ): boolean {
    if (fault.share === 1 || stuck.has(fault)) return true;
    const isStruck =
      chance(file.seed, `${nth} ${fault.sticky && order !== '' ? order : key}`) < fault.share;
    if (isStruck && fault.sticky && order === '') stuck.add(fault);
    return isStruck;
  }

  return ({ on, order, items }) => {
    const call = ++calls[on];
    const attempt = (attempts.get(order) ?? 0) + 1;
    if (order !== '') attempts.set(order, attempt);
    const key = order === '' ? `${on} ${call}` : `${on} ${order} ${attempt}`;
    const now = elapsed();
    const struck = file.faults.filter(
      (fault, nth) =>
        fault.kind !== 'outage' &&
        concerns(fault, on) &&
        now >= fault.from &&
        (fault.until === undefined || now < fault.until) &&
        within(fault.calls, call) &&
        (fault.attempts === undefined || (order !== '' && within(fault.attempts, attempt))) &&
        (fault.orders === undefined || fault.orders.some((pattern) => matches(pattern, order))) &&
        (fault.articles === undefined || namesArticle(items, fault.articles)) &&
        isDrawn(fault, nth, order, key),
    );
    const pick = (span: Between, what: string) =>
      span.least + (span.most - span.least) * chance(file.seed, `${what} ${key}`);
    const plan = planOf(on, struck, pick);
    for (const { kind } of plan.struck) emit?.({ type: 'fault', at: Date.now(), on, kind, order });
    return plan;
  };
}

/** Delays add up; of the faults that end a call, and of those of the list, the first in the file wins. */
function planOf(
  on: FaultedCall['on'],
  faults: readonly Fault[],
  pick: (span: Between, what: string) => number,
): Plan {
  const plan = { delayBefore: 0, delayAfter: 0, lateBy: 0 };
  let show: Plan['show'];
  let ending: Ending | undefined;
  const struck: Fault[] = [];
  for (const [nth, fault] of faults.entries()) {
    switch (fault.kind) {
      case 'delay':
        plan[fault.when === 'before' ? 'delayBefore' : 'delayAfter'] += pick(
          fault.by,
          `delay ${nth}`,
        );
        break;
      case 'list':
        if (show !== undefined) continue;
        show = listModeOf(fault.show);
        break;
      case 'outage':
        continue;
      case 'answer':
      case 'drop':
      case 'late':
      case 'cut':
      case 'revoke':
      case 'crash':
        if (ending !== undefined) continue;
        ending = fault;
        if (fault.kind === 'late') plan.lateBy = pick(fault.by, 'late');
    }
    struck.push(fault);
  }
  return { on, ...plan, show, ending, struck };
}

function concerns(fault: Exclude<Fault, { kind: 'outage' }>, on: FaultedCall['on']): boolean {
  // A token request carries no token to revoke; its secret is revoked only where the file names `token`.
  if (fault.kind === 'revoke' && on === 'token') return fault.on === 'token';
  return fault.on === 'any' || fault.on === on;
}

function within(ranges: readonly Between[] | undefined, ordinal: number): boolean {
  return (
    ranges === undefined || ranges.some(({ least, most }) => ordinal >= least && ordinal <= most)
  );
}

function matches(pattern: string, order: string): boolean {
  return pattern.endsWith('*') ? order.startsWith(pattern.slice(0, -1)) : order === pattern;
}

function namesArticle(items: string | undefined, articles: readonly string[]): boolean {
  if (items === undefined) return false;
  return (JSON.parse(items) as { articleCode: string }[]).some(({ articleCode }) =>
    articles.includes(articleCode),
  );
}

/** From 0 to below 1, by the seed and the key only: a rehearsal affects the same calls in any order of arrival. */
export function chance(seed: number, key: string): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let at = 0; at < key.length; at += 1)
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  // Murmur's finalizer: similar keys give unrelated numbers.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
