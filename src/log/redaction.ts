const HIDDEN = '[redacted]';
/** Shorter texts occur by chance. */
const SHORTEST = 4;
/** A token that was replaced expires soon; without an end, every renewal would slow each line. */
const TOKENS_KEPT = 8;

/** What a regular expression would read as more than the character itself. */
const SYNTAX = /[\\^$.*+?()[\]{}|/-]/g;

/** Keeps secrets out of texts by their value, wherever and in whichever usual form they occur. */
export type Redaction = {
  /** From now on this text is hidden, also JSON-escaped, URL-encoded, in hexadecimal, and within base64 (Basic). */
  hideSecret: (value: string) => void;
  /** The same for a value that is soon replaced: the last few of them are hidden. */
  hideToken: (value: string) => void;
  /** Any text without the secrets. */
  redact(text: string): string;
  /** A line of JSON without the secrets; it stays JSON. */
  redactLine(line: string): string;
};

/** Opens a redaction that hides nothing yet. */
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

/** The longest first: a form may begin like another. */
function anyOf(forms: ReadonlySet<string>): RegExp {
  const longestFirst = [...forms].sort((one, other) => other.length - one.length);
  return new RegExp(longestFirst.map((form) => form.replace(SYNTAX, '\\$&')).join('|'), 'g');
}

/** Texts and numbers, the only places of a JSON line that can hold a secret. */
const JSON_TOKEN = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g;

function formsOf(value: string): string[] {
  const escaped = JSON.stringify(value).slice(1, -1);
  const encoded = [encodeURIComponent(value), new URLSearchParams([['', value]]).toString().slice(1)];
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
 * The characters that base64 of any text with the value in it must contain: three ways, after where it begins.
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
