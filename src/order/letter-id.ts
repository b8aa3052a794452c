/** The id of a dead letter, which is never used again: its batch, and the ordinal of its order in that. */
export function idOf(batch: string, ordinal: number | string): string {
  return `${batch}-${ordinal}`;
}

/** The batch and the ordinal of an id. */
export function splitId(id: string): [batch: string, ordinal: number] {
  const at = id.lastIndexOf('-');
  return [id.slice(0, Math.max(0, at)), Number(id.slice(at + 1))];
}
