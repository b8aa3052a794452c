/** Whether two spellings of a number are one order, or two. */
export type Numbers = 'canonical' | 'exact';

/** What identifies the order with a number. The key of a key is itself. */
export type KeyOf = (number: string) => string;

/** Begins the key of a number that is compared as it is written. */
export const EXACT = '=';

/** Visible ASCII without small letters, in which case and composition make no difference. */
const CAPITAL = /^[!-`{-~]+$/;
/** A zero that begins a group of digits. */
const LEADING = /(?:^|[^0-9.,])0[0-9]/;

/** The key of an order with `numbers`; a person said of the numbers `apart` that they are separate orders. */
export function keyingOf(numbers: Numbers, apart: ReadonlySet<string> = new Set()): KeyOf {
  const key = numbers === 'exact' ? (number: string) => number : keyOf;
  return (number) => (apart.has(number) ? EXACT + number : key(number));
}

/**
 * What all spellings of one order number share: no case, no white space, no zeros that begin a group of digits (`po-007` and
 * `PO-7`), unless the group is a fraction (`A-1.05`).
 */
export function keyOf(number: string): string {
  if (number.startsWith(EXACT)) return number;
  const folded = CAPITAL.test(number)
    ? number
    : number.normalize('NFC').toUpperCase().normalize('NFC').replace(/\s+/gu, '');
  return LEADING.test(folded) ? folded.replace(/(?<![0-9.,])0+(?=[0-9])/g, '') : folded;
}
