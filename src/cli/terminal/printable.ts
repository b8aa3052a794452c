/** What a terminal would act upon or show in another order: controls, bidi and other format characters, line ends. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Text from a file as it may be shown on a terminal: what is not to be seen stands there as its code. */
export function printable(text: string): string {
  return text.replace(HIDDEN, escapeUnits);
}

/** JSON as it may be shown on a terminal; it reads as the same JSON. */
export function printableJson(value: unknown): string {
  return escapeHidden(JSON.stringify(value, null, 2));
}

/** Escapes what is not to be seen in JSON text, but for line ends: those stand between its values only. */
export function escapeHidden(json: string): string {
  return json.replace(HIDDEN, (found) => (found === '\n' ? found : escapeUnits(found)));
}

/** `\u` escapes, one for each UTF-16 unit, as JSON writes them. */
function escapeUnits(text: string): string {
  return Array.from({ length: text.length }, (_, index) => {
    return `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}
