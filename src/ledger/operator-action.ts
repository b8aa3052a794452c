/** What a person did with an order, for its history. `at` is Redis time in milliseconds. */
export type OperatorAction = {
  at: number;
  /** The user's name on the machine where the command ran. */
  who: string;
  what: 'retried' | 'asked again' | 'confirmed' | 'resent' | 'discarded' | 'cancelled' | 'rebuilt';
};
