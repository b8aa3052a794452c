/** `  text` on every line. */
export function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

/** Somebody else's sentence, to stand within one of ours. */
export function withoutStop(text: string): string {
  return text.replace(/[.\s]+$/, '');
}
