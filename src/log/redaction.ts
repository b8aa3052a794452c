const HIDDEN = '[redacted]';
/** Shorter texts occur by chance, so they are not redacted. */
const SHORTEST = 4;
/** Replaced tokens expire soon, and every remembered token slows each line. */
const TOKENS_KEPT = 8;

/** Characters with a meaning in a regular expression. */
const SYNTAX = /[\\^$.*+?()[\]{}|/-]/g;

/** Removes secrets from texts by value, in every usual encoding. */
export type Redaction = {
  /** Redacts this text from now on, also JSON-escaped, URL-encoded, in hexadecimal and within base64 (Basic). */
  hideSecret: (value: string) => void;
  /** The same for a value that is soon replaced; only the last few are remembered. */
  hideToken: (value: string) => void;
  /** Removes the secrets from a text. */
  redact(text: string): string;
  /** Removes the secrets from a line of JSON; the result is JSON. */
  redactLine(line: string): string;
};

/** Builds a redaction without secrets. */
export function createRedaction(): Redaction {
  const secrets = new Map<string, string[]>();
  const tokens = new Map<string, string[]>();
  let pattern: RegExp | undefined;

  function hide(value: string, among: Map<string, string[]>): void {
    if (value.length < SHORTEST || among.has(value)) return;
    among.set(value, formsOf(value));
    for (const oldest of [...tokens.keys()].slice(0, -TOKENS_KEPT)) tokens.delete(oldest);
    pattern = anyOf(new Set([...secrets.values(), ...tokens.values()].flat()));
  }

  function redact(text: string): string {
    if (pattern === undefined) return text;
    const clean = text.replace(pattern, HIDDEN);
    return ESCAPED.test(clean) ? redactEscaped(clean, pattern) : clean;
  }

  function redactLine(line: string): string {
    if (pattern === undefined || (line.search(pattern) === -1 && !ESCAPED.test(line))) return line;
    return line.replace(JSON_TOKEN, (token) => {
      const text = token.startsWith('"') ? String(JSON.parse(token)) : token;
      const clean = redact(text);
      return clean === text ? token : JSON.stringify(clean);
    });
  }

  return {
    hideSecret: (value) => hide(value, secrets),
    hideToken: (value) => hide(value, tokens),
    redact,
    redactLine,
  };
}

/** Longest first, because one form can be the start of another. */
function anyOf(forms: ReadonlySet<string>): RegExp {
  const longestFirst = [...forms].sort((one, other) => other.length - one.length);
  return new RegExp(longestFirst.map((form) => form.replace(SYNTAX, '\\$&')).join('|'), 'g');
}

/** Removes what is a secret once its escapes are resolved. All else stays as it is: JSON remains JSON. */
function redactEscaped(text: string, pattern: RegExp): string {
  let kept = '';
  let last = 0;
  for (const { from, to } of placesWithoutEscapes(text, pattern)) {
    kept += text.slice(last, from) + HIDDEN;
    last = to;
  }
  return kept + text.slice(last);
}

/** What a text with escapes or characters that nobody sees contains. */
const ESCAPED = /[\\&%\p{Cc}\p{Cf}]/u;

/** One character as writers of JSON, HTML and addresses escape it, also in a text within a text, or one nobody sees. */
const ESCAPE =
  /\\+(?:u([0-9a-f]{4})|(["'/]))|&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos));|%([0-9a-f]{2})|[\p{Cc}\p{Cf}]/giu;

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** A text without its escapes: character n of it begins at `at[n]` of the original, which ends at the last place. */
type Bare = { text: string; at: readonly number[] };

/** Escapes can be escaped again: `%252B`, `&amp;#43;`. */
const ROUNDS = 2;

/** Finds `pattern` in a text whose escapes are resolved. Returns the places in the text as it is, from begin to end. */
function placesWithoutEscapes(text: string, pattern: RegExp): { from: number; to: number }[] {
  let bare: Bare = { text, at: Array.from({ length: text.length + 1 }, (_, place) => place) };
  for (let round = 0; round < ROUNDS; round += 1) bare = withoutEscapes(bare);
  const { at } = bare;
  const found = [...bare.text.matchAll(pattern)];
  return found.map(({ index, 0: match }) => ({
    from: at[index] ?? 0,
    to: at[index + match.length] ?? text.length,
  }));
}

function withoutEscapes({ text, at }: Bare): Bare {
  const places: number[] = [];
  let bare = '';
  let from = 0;
  const copy = (to: number) => {
    bare += text.slice(from, to);
    for (let place = from; place < to; place += 1) places.push(at[place] ?? 0);
  };
  for (const found of text.matchAll(ESCAPE)) {
    copy(found.index);
    const character = meantBy(found);
    bare += character;
    if (character !== '') places.push(at[found.index] ?? 0);
    from = found.index + found[0].length;
  }
  copy(text.length);
  places.push(at[text.length] ?? 0);
  return { text: bare, at: places };
}

/** The character of an escape; none for a character that nobody sees, and beyond ASCII, where no secret is. */
function meantBy([, unit, quoted, decimal, hexadecimal, name, byte]: RegExpExecArray): string {
  if (quoted !== undefined) return quoted;
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? '';
  const hex = unit ?? hexadecimal ?? byte;
  const code = hex !== undefined ? Number.parseInt(hex, 16) : Number(decimal ?? 0);
  return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : '';
}

/** Strings and numbers, the only parts of a JSON line that can contain a secret. */
const JSON_TOKEN = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g;

function formsOf(value: string): string[] {
  const escaped = JSON.stringify(value).slice(1, -1);
  const encoded = [
    encodeURIComponent(value),
    new URLSearchParams([['', value]]).toString().slice(1),
  ];
  const plain = [value, escaped, JSON.stringify(escaped).slice(1, -1), ...encoded];
  const bytes = Buffer.from(value);
  const texts = [
    ...plain,
    ...encoded.map(lowerCaseEscapes),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
  ];
  return [...texts, ...[value, ...encoded].flatMap(insideBase64)];
}

function lowerCaseEscapes(text: string): string {
  return text.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase());
}

/**
 * The characters that the base64 form of any text with this value contains, for each of the three alignments.
 * `Authorization: Basic` is such a text.
 */
function insideBase64(value: string): string[] {
  const cores = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
    const from = Math.ceil((before * 8) / 6);
    return bytes.toString('base64').slice(from, Math.floor((bytes.length * 8) / 6));
  });
  return cores
    .filter((core) => core.length >= SHORTEST)
    .flatMap((core) => [core, core.replaceAll('+', '-').replaceAll('/', '_')]);
}
