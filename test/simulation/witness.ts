import { INTENT_FRESH, INTENT_TRAVELS } from '../../src/ledger/entry.ts';
import { OPERATOR } from '../../src/ledger/pause-cause.ts';
import type { FaultFound } from './judge.ts';
import type { Deeds } from './people.ts';
import { KEYS } from './setting.ts';
import { standingOf } from './standing.ts';
import type { Store } from './store.ts';
import type { Timeline } from './timeline.ts';

export type Witness = ReturnType<typeof openWitness>;

type Deps = { timeline: Timeline; store: Store; deeds: () => Deeds };

/** Sees what must not happen at the moment when it happens. */
export function openWitness({ timeline, store, deeds }: Deps) {
  const conflicts = new Set<string>();
  const seen: FaultFound[] = [];
  const named = new Set<string>();
  let givenBack = 0;

  function found(fault: FaultFound['fault'], number: string): void {
    seen.push({ fault, number, detail: `at ${(timeline.now() / 1000).toFixed(3)}` });
  }

  /** The first byte of an order leaves a process. */
  function sent(number: string): void {
    const { resent, wanted, cancelledAt, pausedAt = Number.POSITIVE_INFINITY } = deeds();
    const { batch = '' } = standingOf(store, number).entry ?? {};
    const late = timeline.now() - (cancelledAt.get(batch) ?? Number.POSITIVE_INFINITY);
    if (late > INTENT_TRAVELS + INTENT_FRESH && !wanted.has(number))
      found('sent though withdrawn', number);
    if (conflicts.has(number) && !resent.has(number)) found('sent though known', number);
    const isPaused = store.hget(KEYS.breaker, `hold:${OPERATOR}`) !== null;
    if (showsTheList(number)) named.add(number);
    if (isPaused && timeline.now() > pausedAt + INTENT_TRAVELS + INTENT_FRESH)
      found('sent while paused', number);
  }

  /** It is sent alone: the first one of a new ledger, or one in doubt. */
  function showsTheList(number: string): boolean {
    const again = store.hget(KEYS.listProof, 'witness')?.split(' ')[1];
    return store.hget(KEYS.listProof, 'turn') === number || again === number;
  }

  return {
    sent,
    /** The orders that were sent to show whether the list is complete, which delivery names. */
    named: named as ReadonlySet<string>,
    conflict: (number: string) => void conflicts.add(number),
    givenBack(): void {
      givenBack += 1;
    },
    intentsGivenBack: () => givenBack,
    seen: seen as readonly FaultFound[],
  };
}
