import type { Place } from './place.ts';

/** The dead letter that a row of a fix file corrects. */
export type FixTarget = { batch: string; place: string };

/** Problem code of an order in a fix file whose number may have lost its leading zeros in a spreadsheet. */
export const LEADING_ZEROS_LOST = 'leading-zeros-lost';

const NOTE = / \((line \d{1,15}|\/[^\n]{1,500}) of batch ([\w.-]{1,200})\)$/;

/** A place in words: `line 7`, or the pointer of a JSON file, `/orders/3`. */
export function placeText({ line, pointer = '' }: Place): string {
  return pointer === '' ? `line ${line}` : pointer;
}

/** The end of a message in a fix file, for people and for `readFixNote`. */
export function fixNote({ batch, place }: FixTarget): string {
  return ` (${place} of batch ${batch})`;
}

/** Reads the note back; undefined when there is none. */
export function readFixNote(message: string): FixTarget | undefined {
  const [, place, batch] = NOTE.exec(message) ?? [];
  return place === undefined || batch === undefined ? undefined : { place, batch };
}
