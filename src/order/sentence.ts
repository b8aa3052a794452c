declare const worded: unique symbol;

/** A sentence for people. It is stored, sent and logged as it is, and shown: nothing else can test, split or join it. */
export type Sentence = { readonly [worded]: true };

/** The sentence with this text: made of code and facts, or read where one was stored. */
export function sentence(text: string): Sentence {
  return text as unknown as Sentence;
}

/** Its text, for what shows it. */
export function asText(made: Sentence): string {
  return made as unknown as string;
}
