import type { DeadLetter } from '../order/dead-letter.ts';

/** Writes `dead-letters.json` piece by piece: a JSON array, `[]` when empty, with each entry on a line of its own. */
export function deadLetterList(): { entry(deadLetter: DeadLetter): string; closing(): string } {
  let empty = true;
  return {
    entry(deadLetter) {
      const text = `${empty ? '[' : ','}\n${JSON.stringify(deadLetter)}`;
      empty = false;
      return text;
    },
    closing: () => (empty ? '[]\n' : '\n]\n'),
  };
}
