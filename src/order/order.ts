/** One line of a purchase order, as the API takes it (API part 2). */
export type Item = { articleCode: string; quantity: number };

/** A numbered record with its items. `orderState` is the state of its kind; the kind writes the JSON (API part 4). */
export type Order = { purchaseOrderNumber: string; orderState: string; items: Item[] };
