const SEGMENTS = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Characters that take two columns on a terminal. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])/u;

/** Columns that a text takes on a terminal. */
export function textWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of SEGMENTS.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** The text, cut to `places` columns at its start or end, with an ellipsis there. */
export function cutText(text: string, places: number, at: 'start' | 'end'): string {
  if (textWidth(text) <= places) return text;
  const segments = [...SEGMENTS.segment(text)].map(({ segment }) => segment);
  if (at === 'start') segments.reverse();
  let kept: string[] = [];
  let width = 1;
  for (const segment of segments) {
    width += textWidth(segment);
    if (width > places) break;
    kept.push(segment);
  }
  if (at === 'start') kept = kept.reverse();
  return at === 'start' ? `…${kept.join('')}` : `${kept.join('')}…`;
}
