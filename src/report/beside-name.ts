import { createHash } from 'node:crypto';

/** The longest file name that common file systems take, in bytes. */
const LONGEST = 255;

/**
 * The name of a file laid beside `name`: `orders.csv` and `.fix.csv` give `orders.csv.fix.csv`, the second of that name
 * `orders.csv.fix-2.csv`. A name too long for that is cut between characters and told apart by a part of its hash.
 */
export function besideName(name: string, suffix: string, attempt: number): string {
  const ending = attempt === 1 ? suffix : suffix.replace(/(?=\.[^.]*$)/, `-${attempt}`);
  if (Buffer.byteLength(name + ending) <= LONGEST) return name + ending;
  const mark = `~${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
  return cut(name, LONGEST - Buffer.byteLength(mark + ending)) + mark + ending;
}

function cut(text: string, bytes: number): string {
  let kept = '';
  let room = bytes;
  for (const character of text) {
    room -= Buffer.byteLength(character);
    if (room < 0) break;
    kept += character;
  }
  return kept;
}
