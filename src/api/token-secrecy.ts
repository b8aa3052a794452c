import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { HttpAnswer, HttpEnd } from '../core/http.ts';
import { createRedaction } from '../log/redaction.ts';

/** A token as stored in Redis: times are Redis time in milliseconds, `fingerprint` identifies the grant. */
export type StoredToken = { value: string; fingerprint: string; softAt: number; hardAt: number; path: string };

/**
 * Seals tokens for Redis with AES-256-GCM. The key comes from the client secret, and where the token belongs is
 * authenticated: a text copied from another environment does not open.
 */
export function tokenSeal(clientSecret: string, belongsTo: string) {
  const key = Buffer.from(hkdfSync('sha256', clientSecret, 'po-sync token', belongsTo, 32));
  const bound = Buffer.from(belongsTo);

  function seal(token: StoredToken): string {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, iv);
    cipher.setAAD(bound);
    const sealed = Buffer.concat([cipher.update(JSON.stringify(token), 'utf8'), cipher.final()]);
    return `${token.fingerprint}.${Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')}`;
  }

  /** Undefined when the text is damaged or belongs to another secret or place; a new token is requested then. */
  function open(text: string): StoredToken | undefined {
    try {
      const bytes = Buffer.from(text.slice(text.indexOf('.') + 1), 'base64');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
      decipher.setAAD(bound);
      decipher.setAuthTag(bytes.subarray(12, 28));
      const plain = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
      return JSON.parse(plain.toString('utf8')) as StoredToken;
    } catch {
      return undefined;
    }
  }

  return { seal, open };
}

/** A short name of a token that does not reveal it. */
export function fingerprintOf(value: string): string {
  return createHash('sha256').update(value).digest('hex').slice(0, 16);
}

/** Removes the token of the request from the answer: some APIs and proxies repeat what they receive. */
export function hideToken(end: HttpEnd, token: { value: string }): HttpEnd {
  if (end.kind !== 'answered' || !mayHold(end.answer, token.value)) return end;
  const redaction = createRedaction();
  for (const form of writtenBy(token.value)) redaction.hideToken(form);
  const body = Buffer.from(redaction.redact(end.answer.body.toString('utf8')));
  return { ...end, answer: { ...end.answer, body } };
}

/** A quick check for successful answers, which are the most: looks for a part of the token that is never escaped. */
function mayHold({ status, body }: HttpAnswer, value: string): boolean {
  return status >= 300 || body.includes(/[A-Za-z0-9]{4,}/.exec(value)?.[0] ?? value);
}

/** The value as it is, and as JSON writers of some platforms escape it. */
function writtenBy(value: string): string[] {
  return [value, value.replaceAll('/', '\\/'), value.replaceAll('+', '\\u002B'), value.replaceAll('+', '\\u002b')];
}
