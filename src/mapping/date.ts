/** Reads a text in one form of a date as `YYYY-MM-DD`; undefined when it is none of that form, or no day. */
export type ReadDate = (text: string) => string | undefined;

const PARTS: Record<string, string> = {
  d: '(?<d>\\d{1,2})',
  dd: '(?<d>\\d\\d)',
  M: '(?<m>\\d{1,2})',
  MM: '(?<m>\\d\\d)',
  yyyy: '(?<y>\\d{4})',
};

/** Compiles a form such as `dd.MM.yyyy`. */
export function compileDate(form = 'yyyy-MM-dd'): ReadDate {
  const known = new Set<string>();
  const pattern = form.replace(/dd?|MM?|yyyy|./gsu, (part) => {
    const digits = PARTS[part];
    if (digits === undefined) return `\\u{${part.codePointAt(0)?.toString(16)}}`;
    if (known.has(part.charAt(0))) return digits.replace(/\?<.>/, '?:');
    known.add(part.charAt(0));
    return digits;
  });
  const whole = new RegExp(`^${pattern}$`, 'u');

  return (text) => {
    const { y = '', m = '', d = '' } = whole.exec(text)?.groups ?? {};
    if (y === '') return undefined;
    const day = `${y}-${m.padStart(2, '0')}-${d.padStart(2, '0')}`;
    const time = Date.parse(`${day}T00:00:00Z`);
    // A day that a month does not have becomes one of the next.
    return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day) ? day : undefined;
  };
}
