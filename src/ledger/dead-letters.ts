import { type Closing, type DeadLetter, REPLACED } from '../order/dead-letter.ts';
import { splitId } from '../order/letter-id.ts';
import { EXACT } from '../order/number-key.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';
import { type Entry, encodeCompact, type OperatorAction } from './entry.ts';
import { discarded } from './state-machine/decision.ts';

/** An open dead letter: its batch, the ordinal of its order in that, and its number as it is spelled. */
export type OpenDeadLetter = { batch: string; ordinal: number; number: string };

/** A dead letter, and who or what closes it. */
export type ClosingRequest = {
  id: string;
  number: string;
  /** The ledger's entry, where it belongs to this dead letter: it goes with it. */
  entry?: Entry;
  /** The version of the number's entry that the decision depends on, also one of another batch; 0: there was none. */
  seen?: number;
  by: OperatorAction | Replaced;
};

/** The order with that id has it now. `at`: ledger time in milliseconds. */
export type Replaced = { at: number; successor: string };

/** `late`: the order was changed meanwhile, or something happens to it; look again. */
export type ClosingResult = { closed: number } | 'late';

export type DeadLetters = ReturnType<typeof createDeadLetters>;

/** Reads what `waiting` holds for a number. */
export function readOpenDeadLetters(text: string): OpenDeadLetter[] {
  return [...text.matchAll(/^([^/\n]+)\/(\d+) (.*)$/gm)].map(
    ([, batch = '', ordinal, number = '']) => ({ batch, ordinal: Number(ordinal), number }),
  );
}

/** Finds and closes the dead letters that wait for a person. */
export function createDeadLetters({ redis, keys }: { redis: Redis; keys: Keys }) {
  const closeScript = readScript(new URL('./close-dead-letters.lua', import.meta.url));
  const apartScript = readScript(new URL('./set-apart.lua', import.meta.url));

  /** Whether a dead letter is open; what Redis has forgotten is not, if it has a number. */
  async function isOpen({
    id,
    purchaseOrderNumber: number,
  }: Pick<DeadLetter, 'id' | 'purchaseOrderNumber'>): Promise<boolean> {
    const [batch, ordinal] = splitId(id);
    if (number === '') return (await redis.hexists(keys.closed(batch), String(ordinal))) === 0;
    const open = readOpenDeadLetters((await redis.hget(keys.waiting, keys.keyOf(number))) ?? '');
    return open.some((one) => one.batch === batch && one.ordinal === ordinal);
  }

  /**
   * Closes a dead letter that a person discarded, or fixed under another number. Its number is free afterwards, unless the
   * API has it: the ledger remembers that.
   */
  async function close({ id, number, entry, seen, by }: ClosingRequest): Promise<ClosingResult> {
    const [batch, ordinal] = splitId(id);
    const key = keys.keyOf(number);
    const closing = closingOf(number, by);
    const step = entry && discarded(entry, by.at);
    if (step?.kind === 'ignore') return 'late';
    const closed = await runScript(
      redis,
      closeScript,
      [
        keys.open(number),
        keys.settled(number),
        keys.due,
        keys.doubt,
        keys.waiting,
        keys.identity,
        keys.operatorActions(number),
      ],
      [
        keys.prefix,
        JSON.stringify({
          batch,
          ordinal: String(ordinal),
          closing: JSON.stringify(closing),
          ...(number === '' ? {} : { number, key }),
          seen,
          version: entry?.version,
          compact: step?.keeps && entry && compactOf(entry, step.keeps, by.at, key),
          operatorAction: 'what' in by ? JSON.stringify(by) : undefined,
        }),
      ],
    );
    return closed === -1 ? 'late' : { closed: Number(closed) };
  }

  /**
   * Separates a number from its other spelling, as long as the entry of that has this version (0: none). Its dead letters
   * are then open under it.
   */
  async function setApart(number: string, version: number, at: number): Promise<boolean> {
    const used = [keys.open(number), keys.numbersApart, keys.waiting, keys.behind];
    const named = [keys.prefix, number, version, at, keys.keyOf(number), EXACT + number];
    return (await runScript(redis, apartScript, used, named)) === 1;
  }

  return { isOpen, close, setApart };
}

function closingOf(number: string, by: ClosingRequest['by']): Closing {
  const at = new Date(by.at).toISOString();
  if ('what' in by) return { number, at, by: by.what, who: by.who };
  const [batch] = splitId(by.successor);
  return { number, at, by: REPLACED, batch, successor: by.successor };
}

/** What is kept of the number: the content that the API has. */
function compactOf(
  { attempt: attempts, order: { purchaseOrderNumber: number } }: Entry,
  digest: string,
  at: number,
  key: string,
): string {
  return encodeCompact({ number, digest, attempts, at, batchNo: 0 }, key);
}
