/** Why a file waits for a person, who releases or cancels it: a code with its facts. `again`: a person released it before. */
export type FileWait = (
  | { code: 'refusals'; facts: { refused: number; of: number; says: string } }
  | { code: 'volume'; facts: { orders?: number; maxOrders: number } }
) & { again?: { at: number; who: string } };

/** A file that waits, and since when, in milliseconds. */
export type Waits = FileWait & { since: number };
