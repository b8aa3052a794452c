declare global {
  // ECMAScript 2026 "JSON.parse source text access": in Node 24, not yet in TypeScript's library.
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

/** A JSON number that a double would change; `JSON.stringify` writes it unchanged. */
export type RawNumber = { readonly rawJSON: string };

/** A JSON number from its source text: a plain number if that gives the same text again. */
export function jsonNumber(source: string): number | RawNumber {
  const value = Number(source);
  return String(value) === source ? value : JSON.rawJSON(source);
}

/** The source text of a value made by `jsonNumber`; undefined for anything else. */
export function sourceOfNumber(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return JSON.isRawJSON(value) ? value.rawJSON : undefined;
}
