const UNFINISHED = /\.(?:tmp|part|partial|filepart|crdownload)$/i;
const HIDDEN = /^[.~]/;

/** Files that Windows creates in visited folders. */
const OF_WINDOWS = /^(?:thumbs\.db|desktop\.ini)$/i;

const DONE = /\.done$/i;

/** Whether intake ignores a name in an inbox, forever or until the file gets its final name. */
export function isLeftAlone(name: string, doneFile: boolean): boolean {
  return HIDDEN.test(name) || UNFINISHED.test(name) || OF_WINDOWS.test(name) || (doneFile && DONE.test(name));
}

/** Whether the name is one that programs give a file until it is complete. */
export function isUnfinished(name: string): boolean {
  return UNFINISHED.test(name) && !HIDDEN.test(name);
}

/** The file whose presence signals that `name` is complete. */
export function doneFileOf(name: string): string {
  return `${name}.done`;
}

/** Longest name that leaves room for the names of its result page and fix file, in bytes. */
const LONGEST = 255 - '.result.html'.length - '-00000000'.length;

/**
 * `orders.csv` without a batch, `orders-3f2a91c0.csv` with one. Names too long to place a report next to them are
 * shortened between characters; the extension is kept.
 */
export function uniqueName(name: string, batch: string | undefined): string {
  const [, stem = name, ending = ''] = /^(.+?)((?:\.[A-Za-z0-9]{1,8}){0,2})$/su.exec(name) ?? [];
  const suffix = batch === undefined ? '' : `-${batch.slice(-8)}`;
  return shorten(stem, LONGEST - Buffer.byteLength(ending)) + suffix + ending;
}

function shorten(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const kept = new TextDecoder().decode(Buffer.from(text).subarray(0, bytes));
  return kept.replace(/\ufffd+$/, '');
}
