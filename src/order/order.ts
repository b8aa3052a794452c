/** One line of a purchase order, as the API takes it (spec part 2). */
export type Item = { articleCode: string; quantity: number };

/** A purchase order exactly as it is sent: these three fields and nothing else (spec part 4). */
export type Order = { purchaseOrderNumber: string; orderState: 'NEW'; items: Item[] };
