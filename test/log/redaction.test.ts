import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedaction } from '../../src/log/redaction.ts';

/** With everything that encodings treat differently. */
const CANARY = 'c&nary+/ "pässword"\\%7E~=';

const hiding = (...secrets: string[]) => {
  const redaction = createRedaction();
  for (const secret of secrets) redaction.hideSecret(secret);
  return redaction;
};
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a secret is hidden', () => {
  it.each([
    ['as it is', CANARY],
    ['URL-encoded', encodeURIComponent(CANARY)],
    [
      'URL-encoded in lower case',
      encodeURIComponent(CANARY).replace(/%../g, (byte) => byte.toLowerCase()),
    ],
    ['in a form', new URLSearchParams({ client_secret: CANARY }).toString()],
    ['in JSON', JSON.stringify({ password: CANARY })],
    ['in JSON within JSON', JSON.stringify(JSON.stringify({ password: CANARY }))],
    ['in hexadecimal', Buffer.from(CANARY).toString('hex')],
    ['in capital hexadecimal', Buffer.from(CANARY).toString('hex').toUpperCase()],
    ['in base64', base64(CANARY)],
    ['in base64 for URLs', Buffer.from(CANARY).toString('base64url')],
    ['in a Basic header', `Basic ${base64(`id:${CANARY}`)}`],
    [
      'in an encoded Basic header (RFC 6749)',
      `Basic ${base64(`id:${encodeURIComponent(CANARY)}`)}`,
    ],
  ])('%s', (_, text) => {
    const clean = hiding(CANARY).redact(`before ${text} after`);
    expect(clean).toContain('[redacted]');
    expect(clean).toMatch(/^before .* after$/);
    for (const part of [CANARY, 'nary', encodeURIComponent(CANARY), base64(CANARY).slice(2, -4)]) {
      expect(clean).not.toContain(part);
    }
  });

  const special = (text: string, form: (code: number) => string) =>
    text.replace(/[^a-z]/g, (character) => form(character.charCodeAt(0)));
  it.each([
    [
      'as JSON writers escape it',
      (code: number) => `\\u${code.toString(16).padStart(4, '0').toUpperCase()}`,
    ],
    ['as JSON within JSON', (code: number) => `\\\\u${code.toString(16).padStart(4, '0')}`],
    ['in decimal for HTML', (code: number) => `&#${code};`],
    ['in hexadecimal for HTML, escaped again', (code: number) => `&amp;#x${code.toString(16)};`],
    ['URL-encoded twice', (code: number) => `%25${code.toString(16)}`],
    ['with slashes escaped', (code: number) => (code === 47 ? '\\/' : String.fromCharCode(code))],
    [
      'with characters between that nobody sees',
      (code: number) => `\u200b${String.fromCharCode(code)}`,
    ],
  ])('%s, and the text around it stays as it is', (_, form) => {
    const secret = 'canary+of/all&secrets=<here>';
    const text = (told: string) => `{"message":"a \\u0041 ${told} b %20"}`;
    expect(hiding(secret).redact(text(special(secret, form)))).toBe(text('[redacted]'));
  });

  it('in full escapes', () => {
    const all = Array.from(
      'canary-secret',
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ).join('');
    expect(hiding('canary-secret').redact(`"${all}"`)).toBe('"[redacted]"');
  });

  it('anywhere within a base64 text', () => {
    const secret = fc.string({ minLength: 6, maxLength: 40 });
    fc.assert(
      fc.property(fc.string(), secret, fc.string(), (before, value, after) => {
        const text = base64(`${before}${value}${after}`);
        return hiding(value).redact(text) !== text;
      }),
    );
  });

  it('also when it is added later, and each of several', () => {
    const redaction = hiding('first-secret');
    expect(redaction.redact('first-secret second-secret')).toBe('[redacted] second-secret');
    redaction.hideSecret('second-secret');
    expect(redaction.redact('first-secret second-secret')).toBe('[redacted] [redacted]');
  });

  it('completely when another secret starts like it', () => {
    expect(hiding('hunter', 'hunter-42').redact('hunter-42')).toBe('[redacted]');
  });
});

it('hides the last tokens and every secret, however often tokens are renewed', () => {
  const redaction = hiding('the-secret');
  for (let n = 0; n < 1_000; n++) redaction.hideToken(`token-${n}-of-many`);
  expect(redaction.redact('the-secret token-999-of-many token-992-of-many')).toBe(
    '[redacted] [redacted] [redacted]',
  );
  expect(redaction.redact('token-991-of-many')).toBe('token-991-of-many');
});

it('leaves other texts as they are', () => {
  expect(hiding(CANARY).redact('orders.csv was read')).toBe('orders.csv was read');
  expect(createRedaction().redact('secret')).toBe('secret');
});

it('does not hide what is too short to be a secret', () => {
  expect(hiding('a', '12', '').redact('a line with 12')).toBe('a line with 12');
});

describe('a line of JSON', () => {
  it('stays JSON with its other values, whatever the secret looks like', () => {
    const secret = fc.oneof(
      fc.string({ minLength: 4 }),
      fc.constantFrom('null', 'true', '1234', '":"x', 'nabc', '\\\\\\\\', '"level"', ',"a":'),
    );
    const facts = fc.dictionary(
      fc.string(),
      fc.oneof(
        fc.string(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
      ),
    );
    fc.assert(
      fc.property(secret, facts, fc.string(), (value, given, around) => {
        const line = JSON.stringify({
          ...given,
          text: `${around}${value}${around}`,
          number: 12345,
        });
        const read: unknown = JSON.parse(hiding(value).redactLine(line));
        return typeof read === 'object' && read !== null;
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['{"a":"hunter2 and \\"hunter2\\""}', 'hunter2', '{"a":"[redacted] and \\"[redacted]\\""}'],
    ['{"a":"x\\nabc"}', 'nabc', '{"a":"x\\nabc"}'],
    ['{"a":12345678,"b":1}', '12345678', '{"a":"[redacted]","b":1}'],
    ['{"hunter2":1}', 'hunter2', '{"[redacted]":1}'],
  ])('%s without %s', (line, secret, clean) => {
    expect(hiding(secret).redactLine(line)).toBe(clean);
  });
});
