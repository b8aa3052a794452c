import { z } from 'zod';
import { type DeadLetter, refOf } from '../order/dead-letter.ts';

const BATCH = { batch: z.string() };
/**
 * The order of a batch that was decided on. `content`: its digest; empty where none is known, which is any order of this number
 * in the batch. `kind`, `letter` and `revision`: of its dead letter.
 */
const ORDER = {
  ...BATCH,
  number: z.string(),
  content: z.string(),
  kind: z.enum(['conflict', 'invalid', 'refused', 'failed', 'inDoubt']).optional(),
  letter: z.string().optional(),
  revision: z.number().optional(),
};

const DECISION = z.discriminatedUnion('decision', [
  z.object({ decision: z.literal('cancel'), ...BATCH }),
  z.object({ decision: z.literal('release'), ...BATCH, withoutRows: z.boolean() }),
  z.object({ decision: z.literal('discard'), ...ORDER }),
  z.object({ decision: z.literal('accept'), ...ORDER }),
  z.object({ decision: z.literal('retry'), ...ORDER }),
  z.object({ decision: z.literal('resend'), ...ORDER }),
  /** A correction took the rows of its dead letter. */
  z.object({ decision: z.literal('correct'), ...ORDER }),
  /**
   * Not of a person: this version of an export is read, or was read to its end. Unchanged, it is never read
   * again. `newest`: the newest file, of a source with `newestOnly`.
   */
  z.object({
    decision: z.literal('read'),
    ...BATCH,
    source: z.string(),
    file: z.string(),
    version: z.string(),
    isOver: z.boolean(),
    newest: z.string().optional(),
  }),
]);

/** What a person decided about a file or an order. */
export type Decision = z.infer<typeof DECISION>;

/** The decision on the order of a dead letter. */
export function orderDecision(
  decision: 'discard' | 'retry',
  batch: string,
  letter: DeadLetter,
): Decision {
  const { id, number, content, revision } = refOf(letter);
  return {
    decision,
    batch,
    number,
    content,
    kind: letter.kind,
    letter: id,
    revision,
  };
}

const MARKS = z.object({
  id: z.string(),
  /** Milliseconds of ledger time. */
  at: z.number(),
  epoch: z.string(),
  environment: z.string(),
  who: z.string(),
});

/** A decision with its place in the life of a ledger: one line of a journal. */
export type Noted = Decision & z.infer<typeof MARKS>;

/** The decision of one line; undefined for a line that was cut off, or that is none. */
export function notedIn(line: string): Noted | undefined {
  try {
    return z.intersection(DECISION, MARKS).safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
