import { plainName, shorten } from '../../order/text.ts';
import { unreadable } from '../unreadable.ts';
import type { Frame } from './json-scanner.ts';

/** The parts of a paged answer that a file may be. */
export type Paging = { warnings: string[]; hasPageBefore: boolean; hasPageBehind: boolean };

/** Looks at what a JSON file says beside its list of orders: that it is one page of several, or how many there are. */
export type BesideList = {
  onScalar(frame: Frame, value: unknown): void;
  /** `records`: what was read, in rows and in orders. */
  paging(records: number, orders: number | undefined): Paging;
};

/** How APIs name the address of another page, whether there is one, and how many there are; without separators. */
const NEXT = /^(?:odata)?next(?:link|page|pageurl|url|uri|cursor|pagetoken|token|href)?$/;
const BEFORE = /^prev(?:ious)?(?:link|page|pageurl|url|uri|href)?$/;
const MORE =
  /^has(?:more|next|nextpage|moreitems|morerecords)$|^more(?:available|records)?$|^(?:is)?truncated$|^ispartial$/;
const LAST = /^(?:is)?last(?:page)?$/;
const SKIPPED = /^(?:offset|skip|startat|startindex)$/;
const TOTAL =
  /^(?:odata)?(?:total)?count$|^total(?:records?|items|elements|results|orders|rows)?$|^numfound$|^(?:record|order|row)s?count$|^numberof(?:elements|orders|records|rows)$/;
/** Objects around them, beside the list. */
const AROUND =
  /^\/_?(?:meta|metadata|links|pagination|paging|paginginfo|page|pageinfo|cursors?)(?:\/|$)/i;

export function watchBesideList(): BesideList {
  let [hasPageBefore, hasPageBehind] = [false, false];
  const totals: { key: string; total: number }[] = [];
  let failure: string | undefined;

  /** The name of `{next: {href: …}}` is that of the object. */
  function nameOf({ key, pointer }: Frame): string {
    const name = /^(?:href|url)$/i.test(key) ? (pointer.split('/').at(-1) ?? '') : key;
    return plainName(name).replace(/[-_.@]/g, '');
  }

  function onScalar(frame: Frame, value: unknown): void {
    if (frame.isArray || (frame.mark < 0 && !AROUND.test(frame.pointer))) return;
    const name = nameOf(frame);
    const hasFailed =
      FAILED.test(`${name} ${String(value)}`) || (name === 'error' && isText(value));
    if (hasFailed) failure = `${frame.key} ${shorten(String(value), 60)}`;
    const isSaid = value === true || value === 'true' || isPage(value);
    if (NEXT.test(name) && isSaid) hasPageBehind = true;
    if (BEFORE.test(name) && isSaid) hasPageBefore = true;
    if (MORE.test(name) && (value === true || value === 'true')) hasPageBehind = true;
    if (LAST.test(name) && value === false) hasPageBehind = true;
    if (SKIPPED.test(name) && typeof value === 'number' && value > 1) hasPageBefore = true;
    const total =
      TOTAL.test(name) && /^(?:number|string)$/.test(typeof value)
        ? Number(value || Number.NaN)
        : Number.NaN;
    if (Number.isInteger(total)) totals.push({ key: frame.key, total });
  }

  function paging(records: number, orders: number | undefined): Paging {
    const other = totals.find(({ total }) => total !== records && total !== orders);
    const isCut = other !== undefined && other.total > records;
    const warnings = [
      ...(hasPageBehind
        ? [
            'The file is one page of several: it names a next page (nextLink). Drop the other pages as well.',
          ]
        : []),
      ...(failure === undefined
        ? []
        : [`The file contains ${failure}, so it may be incomplete. Drop a complete file.`]),
      ...(other === undefined ? [] : [differs(other, records)]),
    ];
    return { warnings, hasPageBefore, hasPageBehind: hasPageBehind || isCut };
  }

  return { onScalar, paging };
}

const FAILED = /^(?:success|ok) false$|^status (?:error|failed|failure|partial|incomplete)$/i;

function isText(value: unknown): boolean {
  return (
    typeof value === 'string' && value.trim() !== '' && !/^(?:none|no|null|ok|0)$/i.test(value)
  );
}

/** An address or a token of a page, or its number. */
function isPage(value: unknown): boolean {
  return (
    (typeof value === 'string' && !/^(?:|false|null|none|0)$/.test(value)) ||
    (typeof value === 'number' && value > 0)
  );
}

function differs({ key, total }: { key: string; total: number }, records: number): string {
  return `The file states ${key} ${total}, but ${records} ${records === 1 ? 'record was' : 'records were'} read. If records are missing, drop the complete file again.`;
}

/** The orders whose other rows may be on another page, with why. */
export function cutByPaging(
  { hasPageBefore, hasPageBehind }: Paging,
  first: string,
  last: string,
): Map<string, string> {
  const cut = new Map<string, string>();
  if (hasPageBefore) cut.set(first, 'the last row of the previous page is not in this file');
  if (hasPageBehind) cut.set(last, 'the first row of the next page is not in this file');
  return cut;
}

/** The names of an order number, and of its items or its article. */
export type OrderKeys = { number: ReadonlySet<string>; content: ReadonlySet<string> };

/** Looks for orders in lists beside those that may be read. */
export function watchOtherOrders({ number, content }: OrderKeys) {
  let [numbered, filled] = ['', ''];
  let found: { pointer: string; line: number } | undefined;
  return {
    onBesideKey({ pointer, key, place }: Frame): void {
      if (found !== undefined || !/\/\d+$/.test(pointer)) return;
      const plain = plainName(key);
      if (number.has(plain)) numbered = pointer;
      if (content.has(plain)) filled = pointer;
      if (numbered === pointer && filled === pointer) found = { pointer, line: place.line };
    },
    /** PoSyncError `unreadable-json-shape` if there are any. */
    refuse(list: string): void {
      if (found === undefined) return;
      const { pointer, line } = found;
      const message = `Line ${line} has an order at ${pointer}, beside the list ${JSON.stringify(list)} that is read: it would not be sent.`;
      const remedy =
        'Put all orders in one list. For your operator: or set records in the mapping to the path of the orders, with * for arrays.';
      throw unreadable('json-shape', message, { line, pointer }, remedy);
    },
  };
}
