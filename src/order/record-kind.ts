import type { Item, Order } from './order.ts';

/** A record as the API shows it; `items` is absent where the API leaves them out. */
export type ShownRecord = { purchaseOrderNumber: string; items?: Item[] };

/**
 * One kind of record of the API: everything that another kind would do differently. The rest of the program works on
 * `Order`, a number with items, whatever the API calls them.
 */
export type RecordKind = {
  /** Path of create and list, below the base address. */
  path: `/${string}`;
  /** Property of `data` that contains the list; decides while the list is empty. */
  listName: string;
  /** Names of the fields in the API's JSON; also the default column names of a mapping. */
  fields: { number: string; state: string; items: string; article: string; quantity: string };
  /** The only state in which a record can be created. */
  state: string;
  /** JSON body of the create call: exactly the fields of the kind, in their documented order. */
  payload(order: Order): string;
  /** Reads a record from the answer to a create call or from the list; undefined when it has no number. */
  read(value: unknown): ShownRecord | undefined;
};

type Facts = Pick<RecordKind, 'path' | 'fields' | 'state'>;

/** `/purchase-orders` → `purchaseOrders`. */
function listNameOf(path: string): string {
  return path.slice(1).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Builds a kind whose records have a number, a state and a list of items. */
export function createRecordKind({ path, fields, state }: Facts): RecordKind {
  function itemOf(value: unknown): Item | undefined {
    if (!isObject(value)) return undefined;
    const { [fields.article]: articleCode, [fields.quantity]: quantity } = value;
    return typeof articleCode === 'string' && typeof quantity === 'number'
      ? { articleCode, quantity }
      : undefined;
  }

  return {
    path,
    listName: listNameOf(path),
    fields,
    state,
    payload({ purchaseOrderNumber, items, fields: more }) {
      return JSON.stringify({
        [fields.number]: purchaseOrderNumber,
        [fields.state]: state,
        ...more,
        [fields.items]: items.map((item) => ({
          [fields.article]: item.articleCode,
          [fields.quantity]: item.quantity,
          ...item.fields,
        })),
      });
    },
    read(value) {
      const number = isObject(value) ? value[fields.number] : undefined;
      if (!isObject(value) || typeof number !== 'string') return undefined;
      const shown = value[fields.items];
      const items = Array.isArray(shown) ? shown.map(itemOf) : [undefined];
      return items.every((item) => item !== undefined)
        ? { purchaseOrderNumber: number, items }
        : { purchaseOrderNumber: number };
    },
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Purchase orders, the one kind of record whose calls the API documents (docs/purchase-order-api.md parts 2 to 4). */
export const PURCHASE_ORDER = createRecordKind({
  path: '/purchase-orders',
  fields: {
    number: 'purchaseOrderNumber',
    state: 'orderState',
    items: 'items',
    article: 'articleCode',
    quantity: 'quantity',
  },
  state: 'NEW',
});
