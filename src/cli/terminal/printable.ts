import { escapeHidden, escapeHiddenInJson } from '../../order/hidden-characters.ts';

/** Text from a file or a server, safe for a terminal: hidden characters are shown as escapes. */
export function printable(text: string): string {
  return escapeHidden(text);
}

/** A value as JSON, safe for a terminal; it parses to the same value. */
export function printableJson(value: unknown): string {
  return escapeHiddenInJson(JSON.stringify(value, null, 2));
}
