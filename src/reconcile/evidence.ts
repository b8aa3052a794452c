/** Orders that the API certainly has, and since when: a complete list must hold them. */
export type Canary = { number: string; since: number };

/** What a list is worth as proof that an order is absent. */
export type Evidence =
  /** So many such lists, a settle apart, prove absence. */
  | { kind: 'good'; needed: number }
  /** It lacks an order that it must hold: capped, filtered or lagging. */
  | { kind: 'bad'; missing: string }
  /** Nothing old enough to judge it by, and something may come: ask again later. */
  | { kind: 'early' };

const WITH_CANARIES = 2;
const WITHOUT_CANARIES = 3;

/**
 * Judges a complete list that began at `listedFrom` (architecture, "Verification"). Only canaries at least two settles
 * old count: younger ones may be missing from an honest list. `underWay`: other orders are being sent, one of
 * which may become the first canary.
 */
export function judgeEvidence(input: {
  listedFrom: number;
  settle: number;
  canaries: readonly Canary[];
  listed: ReadonlySet<string>;
  underWay: boolean;
}): Evidence {
  const { listedFrom, settle, canaries, listed, underWay } = input;
  const grown = canaries.filter(({ since }) => listedFrom - since >= 2 * settle);
  const missing = grown.find(({ number }) => !listed.has(number));
  if (missing) return { kind: 'bad', missing: missing.number };
  if (grown.length > 0) return { kind: 'good', needed: WITH_CANARIES };
  return canaries.length > 0 || underWay ? { kind: 'early' } : { kind: 'good', needed: WITHOUT_CANARIES };
}
