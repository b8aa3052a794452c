/** Where a piece of code is in a text: its first character, and the one after its last. */
export type Span = { from: number; to: number };

/**
 * The places of a piece of code in a text, whatever line breaks, spaces and trailing commas a
 * formatter put into either.
 */
export function findCode(text: string, piece: string): Span[] {
  const [hay, needle] = [withoutLayout(text), withoutLayout(piece)];
  const found: Span[] = [];
  for (let i = hay.code.indexOf(needle.code); i !== -1; i = hay.code.indexOf(needle.code, i + 1)) {
    const last = hay.places[i + needle.code.length - 1] ?? 0;
    found.push({ from: hay.places[i] ?? 0, to: last + 1 });
  }
  return found;
}

/** The text with its only occurrence of `piece` replaced. */
export function replaceCode(text: string, piece: string, by: string): string {
  const [span] = findCode(text, piece);
  if (span === undefined) return text;
  return `${text.slice(0, span.from)}${by}${text.slice(span.to)}`;
}

/** The characters that a formatter leaves alone, each with its place in the text. */
function withoutLayout(text: string): { code: string; places: number[] } {
  const kept: string[] = [];
  const places: number[] = [];
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charAt(i);
    if (/\s/.test(char) || (char === ',' && /^,\s*\n\s*[)\]}]/.test(text.slice(i, i + 80))))
      continue;
    kept.push(char);
    places.push(i);
  }
  return { code: kept.join(''), places };
}
