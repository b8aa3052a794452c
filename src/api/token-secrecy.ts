import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { createRedaction } from '../log/redaction.ts';
import type { ShownOrder } from '../order/order.ts';

/** A token as stored in Redis: times are Redis time in milliseconds, `fingerprint` identifies the grant. */
export type StoredToken = {
  value: string;
  fingerprint: string;
  askedAt: number;
  softAt: number;
  hardAt: number;
  path: string;
};

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

/** Removes what the partner was sent in secret from its words: some APIs and proxies repeat what they receive. */
export function hiderOf(secrets: readonly string[]): (text: string) => string {
  const redaction = createRedaction();
  for (const secret of secrets) redaction.hideSecret(secret);
  return redaction.redact;
}

/** Shorter secrets occur in numbers by chance, and an order that is missing in the list would be created again. */
const SHORTEST = 8;

/** Passes listed orders on, without those whose number repeats a secret, and without items that do. */
export function withoutSecrets(
  onOrder: (order: ShownOrder) => void,
  secrets: readonly string[],
): (order: ShownOrder) => void {
  const long = secrets.filter(({ length }) => length >= SHORTEST);
  const hide = hiderOf(long);
  const parts = long.map(plainPart);
  const holds = (text: string) => parts.some((part) => text.includes(part)) && hide(text) !== text;
  return (order) => {
    const { purchaseOrderNumber, items = [] } = order;
    if (holds(purchaseOrderNumber)) return;
    onOrder(items.some(({ articleCode }) => holds(articleCode)) ? { purchaseOrderNumber } : order);
  };
}

/** A part of a secret that is never escaped. */
function plainPart(secret: string): string {
  return /[A-Za-z0-9]{4,}/.exec(secret)?.[0] ?? secret;
}
