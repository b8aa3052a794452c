/** A value from the file as it is named in a message: short, quoted, without credentials, or by its kind. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'keys and values';
  return typeof value === 'string' ? JSON.stringify(shortened(withoutCredentials(value))) : `${JSON.stringify(value)}`;
}

/** An address without the part between `//` and `@`; every other text as it is. */
export function withoutCredentials(text: string): string {
  return text.replace(/:\/\/[^/?#\s]*@/g, '://[redacted]@');
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
