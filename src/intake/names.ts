const UNFINISHED = /\.(?:tmp|part|partial|filepart|crdownload)$/i;
const HIDDEN = /^[.~]/;

/** What Windows puts into folders that people look at. */
const OF_WINDOWS = /^(?:thumbs\.db|desktop\.ini)$/i;

const DONE = /\.done$/i;

/** Whether a name in an inbox is one that po-sync leaves alone, for ever or until it is given its real name. */
export function isLeftAlone(name: string, doneFile: boolean): boolean {
  return HIDDEN.test(name) || UNFINISHED.test(name) || OF_WINDOWS.test(name) || (doneFile && DONE.test(name));
}

/** The file whose appearance says that `name` is whole. */
export function doneFileOf(name: string): string {
  return `${name}.done`;
}

/** Room that the names of a result page and a fix file beside the original need, in bytes. */
const LONGEST = 255 - '.result.html'.length - '-00000000'.length;

/**
 * `name`, or with a part of the batch's name in it when that is taken: `orders.csv`, `orders-3f2a91c0.csv`.
 * Names too long to lay a report beside are cut between characters, their ending kept.
 */
export function uniqueName(name: string, batch: string | undefined): string {
  const [, stem = name, ending = ''] = /^(.+?)((?:\.[A-Za-z0-9]{1,8}){0,2})$/su.exec(name) ?? [];
  const mark = batch === undefined ? '' : `-${batch.slice(-8)}`;
  return cut(stem, LONGEST - Buffer.byteLength(ending)) + mark + ending;
}

function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const whole = new TextDecoder().decode(Buffer.from(text).subarray(0, bytes));
  return whole.replace(/\ufffd+$/, '');
}
