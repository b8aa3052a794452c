import { Tokenizer, TokenType } from '@streamparser/json';
import { PoSyncError } from '../core/errors.ts';
import type { Item, ShownOrder } from '../order/order.ts';

/** The meaning of the value that is being read. `wrapper` is `data` or an object in it, `list` an array in a wrapper. */
type Role = 'envelope' | 'wrapper' | 'list' | 'row' | 'items' | 'item' | 'other';

type Frame = { role: Role; isArray: boolean; key: string };

/** What may come next, so that only well-formed JSON counts. */
type Expected =
  | 'value'
  | 'value or end'
  | 'key'
  | 'key or end'
  | 'colon'
  | 'comma or end'
  | 'nothing';

/** An array that may be the list: whether it has its name, how many orders it contains, and whether anything else. */
type Candidate = { isNamed: boolean; orders: number; hasOthers: boolean };

type Row = { number: unknown; items: Item[] | undefined; areItemsGood: boolean };

/** Property of `data` that contains the list; decides while the list is empty. */
const LIST_NAME = 'purchaseOrders';
const DEEPEST = 64;
/** Maximum bytes without a complete token, more than any number, article or message has. */
const LONGEST_TOKEN = 1024 * 1024;
const MOST_ITEMS = 100_000;
/** Maximum characters of the texts of one order. */
const LONGEST_ROW = 16 * 1024 * 1024;
/** Maximum arrays in `data` that may be the list. */
const MOST_LISTS = 1_000;
/** Properties next to the list that show that it is partial. */
const TOTAL = /^total(Count|Elements|Items|Records|Results)?$/i;
const MORE = /^has(More|Next|NextPage)$/i;

/**
 * Reads the list of orders from the envelope as a stream, in constant memory. The array of orders is found by its content:
 * `data` itself, or an array in an object in `data`, next to any other values.
 */
export class ListReader {
  readonly #onOrder: (order: ShownOrder) => void;
  readonly #tokenizer = new Tokenizer();
  readonly #stack: Frame[] = [];
  readonly #candidates: Candidate[] = [];
  #expected: Expected = 'value';
  #broken = false;
  #sinceToken = 0;
  #status: unknown;
  #error: unknown;
  #total = 0;
  #hasMore = false;
  #row: Row = { number: undefined, items: undefined, areItemsGood: true };
  #item: Partial<Item> = {};
  #rowLength = 0;
  #trouble: Error | undefined;

  constructor(onOrder: (order: ShownOrder) => void) {
    this.#onOrder = onOrder;
    this.#tokenizer.onToken = ({ token, value }) => this.#take(token, value);
    this.#tokenizer.onError = (error) => this.#fail(error);
  }

  /** Takes a piece of the answer. Throws what `onOrder` throws, and as soon as it cannot be a list, so that the rest is not read. */
  write(chunk: Buffer): void {
    this.#sinceToken += chunk.length;
    if (!this.#broken) this.#tokenizer.write(chunk);
    if (!this.#broken && this.#sinceToken <= LONGEST_TOKEN) return;
    throw this.#trouble ?? new Error('the answer is not a list of orders');
  }

  /** How many orders the complete list holds; undefined when the answer was not a complete, valid list. */
  finish(): number | undefined {
    const isSuccess =
      this.#status === 'success' && (this.#error === null || this.#error === undefined);
    if (this.#broken || this.#expected !== 'nothing' || !isSuccess) return undefined;
    const lists = this.#candidates.filter(({ orders, hasOthers }) => orders > 0 && !hasOthers);
    const orders = lists.reduce((sum, list) => sum + list.orders, 0);
    // Without any order, only empty arrays show an empty list, or an empty array with the name of the list.
    const isNamed = this.#candidates.some(({ isNamed: named, hasOthers }) => named && !hasOthers);
    const isFound = orders > 0 || isNamed;
    const isUnderstood =
      this.#candidates.length > 0 &&
      this.#candidates.every((one) => this.#isHarmless(one, isFound));
    return isUnderstood && !this.#hasMore && this.#total <= orders ? orders : undefined;
  }

  /** An array next to the list may contain anything but a mix of orders and other values. */
  #isHarmless({ orders, hasOthers }: Candidate, isListFound: boolean): boolean {
    return !hasOthers || (orders === 0 && isListFound);
  }

  /** `error`: a PoSyncError of whoever takes the orders, or of the tokenizer. */
  #fail(error?: Error): void {
    if (error instanceof PoSyncError) this.#trouble ??= error;
    this.#broken = true;
  }

  #take(token: TokenType, value: unknown): void {
    this.#sinceToken = 0;
    switch (token) {
      case TokenType.LEFT_BRACE:
      case TokenType.LEFT_BRACKET:
        this.#open(token === TokenType.LEFT_BRACKET);
        break;
      case TokenType.RIGHT_BRACE:
      case TokenType.RIGHT_BRACKET:
        this.#close(token === TokenType.RIGHT_BRACKET);
        break;
      case TokenType.COLON:
        this.#move('colon', 'value');
        break;
      case TokenType.COMMA:
        this.#move('comma or end', this.#stack.at(-1)?.isArray ? 'value' : 'key');
        break;
      default:
        this.#takeText(value);
    }
  }

  #move(from: Expected, to: Expected): void {
    if (this.#expected !== from) this.#fail();
    this.#expected = to;
  }

  #takeText(value: unknown): void {
    const top = this.#stack.at(-1);
    if (this.#expected === 'key' || this.#expected === 'key or end') {
      if (typeof value === 'string' && top !== undefined) top.key = value;
      else this.#fail();
      this.#expected = 'colon';
    } else {
      this.#beginValue();
      this.#scalar(top, value);
      this.#endValue();
    }
  }

  #beginValue(): void {
    if (this.#expected !== 'value' && this.#expected !== 'value or end') this.#fail();
  }

  #endValue(): void {
    this.#expected = this.#stack.length === 0 ? 'nothing' : 'comma or end';
  }

  #open(isArray: boolean): void {
    this.#beginValue();
    const above = this.#stack.at(-1);
    const role = this.#roleOf(above, isArray);
    this.#stack.push({ role, isArray, key: '' });
    if (this.#stack.length > DEEPEST) this.#fail();
    this.#expected = isArray ? 'value or end' : 'key or end';
    if (role === 'list') this.#beginList(above?.key === LIST_NAME);
    if (role === 'row') this.#beginRow();
    if (role === 'items') this.#row.items = [];
    if (role === 'item') this.#item = {};
  }

  #beginList(isNamed: boolean): void {
    this.#candidates.push({ isNamed, orders: 0, hasOthers: false });
    if (this.#candidates.length > MOST_LISTS) this.#fail();
  }

  #beginRow(): void {
    this.#row = { number: undefined, items: undefined, areItemsGood: true };
    this.#rowLength = 0;
  }

  #roleOf(above: Frame | undefined, isArray: boolean): Role {
    switch (above?.role) {
      case undefined:
        return isArray ? 'other' : 'envelope';
      case 'envelope':
        if (above.key === 'error') this.#error = {};
        if (above.key !== 'data') return 'other';
        return isArray ? 'list' : 'wrapper';
      case 'wrapper':
        return isArray ? 'list' : 'wrapper';
      case 'list':
        if (isArray) this.#foundOther();
        return isArray ? 'other' : 'row';
      case 'row':
        return isArray && above.key === 'items' ? 'items' : 'other';
      case 'items':
        if (isArray) this.#row.areItemsGood = false;
        return isArray ? 'other' : 'item';
      case 'item':
      case 'other':
        return 'other';
    }
  }

  #scalar(top: Frame | undefined, value: unknown): void {
    const key = top?.key ?? '';
    this.#rowLength += typeof value === 'string' ? value.length : 0;
    if (this.#rowLength > LONGEST_ROW && (top?.role === 'row' || top?.role === 'item'))
      this.#fail();
    switch (top?.role) {
      case 'envelope':
        if (key === 'status') this.#status = value;
        else if (key === 'error') this.#error = value;
        return;
      case 'wrapper':
        if (TOTAL.test(key) && typeof value === 'number')
          this.#total = Math.max(this.#total, value);
        if (MORE.test(key) && value === true) this.#hasMore = true;
        return;
      case 'list':
        this.#foundOther();
        return;
      case 'row':
        if (key === 'purchaseOrderNumber') this.#row.number = value;
        return;
      case 'items':
        this.#row.areItemsGood = false;
        return;
      case 'item':
        if (key === 'articleCode' && typeof value === 'string') this.#item.articleCode = value;
        if (key === 'quantity' && typeof value === 'number') this.#item.quantity = value;
        return;
      default:
    }
  }

  #close(isArray: boolean): void {
    const wanted = isArray ? 'value or end' : 'key or end';
    if (this.#expected !== 'comma or end' && this.#expected !== wanted) this.#fail();
    const closed = this.#stack.pop();
    if (closed?.isArray !== isArray) this.#fail();
    if (closed?.role === 'row') this.#endRow();
    if (closed?.role === 'item') this.#endItem();
    this.#endValue();
  }

  #endItem(): void {
    const { articleCode, quantity } = this.#item;
    if (articleCode === undefined || quantity === undefined) this.#row.areItemsGood = false;
    else this.#row.items?.push({ articleCode, quantity });
    if ((this.#row.items?.length ?? 0) > MOST_ITEMS) this.#fail();
  }

  #endRow(): void {
    const { number, items, areItemsGood } = this.#row;
    const candidate = this.#candidates.at(-1);
    if (typeof number === 'string' && number !== '' && candidate) {
      candidate.orders += 1;
      this.#onOrder(
        items && areItemsGood
          ? { purchaseOrderNumber: number, items }
          : { purchaseOrderNumber: number },
      );
    } else this.#foundOther();
  }

  #foundOther(): void {
    const candidate = this.#candidates.at(-1);
    if (candidate) candidate.hasOthers = true;
  }
}
