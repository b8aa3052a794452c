import { createHash } from 'node:crypto';
import { alike } from '../order/text.ts';

/** What is signed: the code, the column, and what the API said. */
type Signed = { code: string; field?: string; says?: string | undefined };

/**
 * A short name for a kind of error, e.g. `not-whole:MENGE` or `400:5a0c11fe`: equal for the same code and field, and for
 * words of the API that differ only in what identifies an order. Safe in a shell and in a URL.
 */
export function signatureOf({ code, field = '', says }: Signed): string {
  const words =
    says === undefined ? '' : createHash('sha256').update(alike(says)).digest('hex').slice(0, 8);
  return [plain(code) || 'error', plain(field), words].filter((part) => part !== '').join(':');
}

function plain(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
}
