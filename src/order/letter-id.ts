/** The id of a dead letter, which is never used again: its batch, and the ordinal of its order in that. */
export function idOf(batch: string, ordinal: number | string): string {
  return `${batch}-${ordinal}`;
}

/** The batch and the ordinal of an id. */
export function splitId(id: string): [batch: string, ordinal: number] {
  const at = id.lastIndexOf('-');
  return [id.slice(0, Math.max(0, at)), Number(id.slice(at + 1))];
}

/** An order that needed a person, as its dead letter has it: its number, and the digest of its content, or "". */
export type Former = { id: string; number: string; content: string };

/** A dead letter that is corrected, in the revision that a person saw; `before`: those that became it. */
export type LetterRef = Former & { revision: number; before?: readonly Former[] };

/** The dead letters that records correct. */
export function correctedBy(records: readonly { from?: LetterRef }[]): LetterRef[] {
  return [...new Map(records.flatMap(({ from }) => (from ? [[from.id, from]] : []))).values()];
}
