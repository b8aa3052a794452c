/** What to do with an order whose number was sent with other items. */
export const NUMBER_TAKEN =
  'If this is the same order, discard it. If your file is newer than what was sent, agree on the change with the supplier: the API cannot change an order. Enter another number only if it really is another order.';

/** The same of a number whose order has no outcome yet. What was sent or is wrong is not decided before. */
export const NUMBER_IN_PROGRESS =
  'Wait for the outcome of that order: nothing is sent twice. If it is accepted and is the same order, discard this one then. Enter another number only if it really is another order.';

/** Of a conflict whose other order was withdrawn before it was sent. */
export const NUMBER_FREE =
  'The other order with this number was cancelled or discarded: po-sync did not send it.';
export const SEND_UNCHANGED = 'If this one is wanted, drop its fix file as it is';
