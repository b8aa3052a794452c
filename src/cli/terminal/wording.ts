/** Indents every line by two spaces. */
export function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

/** Removes the final period of a sentence that becomes part of another. */
export function withoutStop(text: string): string {
  return text.replace(/[.\s]+$/, '');
}
