/** Controls, bidi and other format characters, lone surrogates, private use, and every blank that is not a plain one. */
const UNSEEN = /[[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Zs}]--[ \u3000]]/gv;

const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\0': '\\0' };

/**
 * The text with its invisible characters written out (`\u202E`, `\n`), so that it can neither hide a difference nor
 * turn what stands around it; longer than `longest` characters it ends with an ellipsis.
 */
export function visible(text: string, longest = 2000): string {
  const shown = text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
  return shown.replace(UNSEEN, (character) => SHORT[character] ?? codeOf(character));
}

function codeOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
