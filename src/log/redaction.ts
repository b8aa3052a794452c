const HIDDEN = '[redacted]';
/** Shorter texts occur by chance, so they are not redacted. */
const SHORTEST = 4;
/** Replaced tokens expire soon, and every remembered token slows each line. */
const TOKENS_KEPT = 8;

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
    return pattern === undefined ? text : text.replace(pattern, HIDDEN);
  }

  function redactLine(line: string): string {
    if (pattern === undefined || line.search(pattern) === -1) return line;
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
  return new RegExp(longestFirst.join('|'), 'gu');
}

/** Strings and numbers, the only parts of a JSON line that can contain a secret. */
const JSON_TOKEN = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g;

/** Characters that nobody escapes. */
const PLAIN = /[\w.-]/;
/** Characters that nobody sees, as they are and as logs show them. */
const UNSEEN = '(?:[\\p{Cc}\\p{Cf}]|\\\\+u(?:200[b-f]|feff))*';
const NAMED: Record<string, string> = {
  '&': '|amp',
  '<': '|lt',
  '>': '|gt',
  '"': '|quot',
  "'": '|apos',
};

/** Patterns of all forms in which a text with the value shows it. */
function formsOf(value: string): string[] {
  const inHex = Buffer.from(value).toString('hex');
  const encoded = [
    encodeURIComponent(value),
    new URLSearchParams([['', value]]).toString().slice(1),
  ];
  const fixed = [inHex, inHex.toUpperCase(), ...[value, ...encoded].flatMap(insideBase64)];
  const written = (value.match(/\\+|./gsu) ?? []).map(anyForm).join('');
  return [written, ...fixed.map((form) => RegExp.escape(form))];
}

/** A character, or backslashes, as they are and as writers of JSON, HTML and addresses escape them, also in a text within a text. */
function anyForm(part: string): string {
  if (PLAIN.test(part)) return RegExp.escape(part);
  if (part.startsWith('\\')) return `${UNSEEN}(?:\\\\{${part.length},}|${escapesOf(part)})`;
  const own = part === ' ' ? '[ +]' : `\\\\*${RegExp.escape(part)}`;
  return `${UNSEEN}(?:${own}|${escapesOf(part)})`;
}

function escapesOf(part: string): string {
  const inJson = Array.from(part, (_, at) => `\\\\+u${hexOf(part.charCodeAt(at), 4)}`);
  const inAddress = Array.from(Buffer.from(part), (byte) => `%(?:25)*${hexOf(byte, 2)}`);
  const inHtml = Array.from(part, (one) => {
    const code = one.codePointAt(0) ?? 0;
    return `&(?:amp;)*(?:#0*${code}|#[xX]0*${hexOf(code, 2)}${NAMED[one] ?? ''});`;
  });
  return [inJson, inAddress, inHtml].map((parts) => parts.join('')).join('|');
}

/** In hexadecimal, in either case. */
function hexOf(code: number, places: number): string {
  const digits = code.toString(16).padStart(places, '0');
  return digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
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
