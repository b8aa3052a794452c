import type { Closing } from '../order/dead-letter.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';
import { type Entry, encodeCompact, OTHER } from './entry.ts';
import type { OperatorAction } from './operator-action.ts';

/** A later batch has the rows of a letter under another number. `at` is Redis time in milliseconds. */
export type FixedBy = { at: number; batch: string };

/** Dead letters of one number in one batch, as the fields that `closed` keeps them by, and who or what closes them. */
export type ClosingRequest = {
  batch: string;
  deadLetter: Pick<Closing, 'number' | 'kind' | 'place'>;
  fields: readonly string[];
  /** The ledger's entry, where it belongs to these letters: it goes with them. */
  entry?: Entry;
  by: OperatorAction | FixedBy;
};

/** `late`: the order was changed meanwhile; look again. */
export type ClosingResult = { closed: number } | 'late';

/**
 * Builds the step that closes dead letters which a person gives up, or mends under another number. Their number is free afterwards, unless the API has
 * it with other content: then the ledger remembers that.
 */
export function createDeadLetterCloser({ redis, keys }: { redis: Redis; keys: Keys }) {
  const script = readScript(new URL('./close-dead-letters.lua', import.meta.url));

  return async ({ batch, deadLetter, fields, entry, by }: ClosingRequest): Promise<ClosingResult> => {
    const { number } = deadLetter;
    const how = 'batch' in by ? { by: 'fixed', batch: by.batch } : { by: by.what, who: by.who };
    const closing: Closing = { ...deadLetter, at: new Date(by.at).toISOString(), ...how };
    const closed = await runScript(
      redis,
      script,
      [
        keys.open(number),
        keys.settled(number),
        keys.due,
        keys.doubt,
        keys.waiting,
        keys.batch(batch),
        keys.closed(batch),
        keys.refresh,
        keys.identity,
        keys.deeds(number),
      ],
      [
        number,
        batch,
        entry?.version ?? '',
        entry?.state === 'conflict' ? compactOf(entry, by.at) : '',
        JSON.stringify(closing),
        'batch' in by ? '' : JSON.stringify(by),
        ...fields,
      ],
    );
    return closed === -1 ? 'late' : { closed: Number(closed) };
  };
}

function compactOf({ attempt }: Entry, at: number): string {
  return encodeCompact({ digest: OTHER, attempts: attempt, at, batchNo: 0 });
}
