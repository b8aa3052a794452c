/** Of a conflict whose other order was withdrawn before it was sent. */
export const NUMBER_FREE =
  'The other order with this number was cancelled or discarded: po-sync did not send it.';
export const SEND_UNCHANGED = 'If this one is wanted, drop its fix file as it is';
