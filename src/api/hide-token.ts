import type { HttpAnswer, HttpEnd } from '../core/http.ts';
import { createRedaction } from '../log/redaction.ts';
import type { BearerToken } from './token.ts';

/** An answer without the token that it was asked with: some partners and proxies repeat what they are sent. */
export function hideToken(end: HttpEnd, token: BearerToken): HttpEnd {
  if (end.kind !== 'answered' || !mayHold(end.answer, token.value)) return end;
  const redaction = createRedaction();
  for (const form of writtenBy(token.value)) redaction.hideToken(form);
  const body = Buffer.from(redaction.redact(end.answer.body.toString('utf8')));
  return { ...end, answer: { ...end.answer, body } };
}

/** Most answers are good ones: these are looked through for a piece of the token that no writer escapes. */
function mayHold({ status, body }: HttpAnswer, value: string): boolean {
  return status >= 300 || body.includes(/[A-Za-z0-9]{4,}/.exec(value)?.[0] ?? value);
}

/** As it is, and as the JSON writers of some platforms escape it. */
function writtenBy(value: string): string[] {
  return [value, value.replaceAll('/', '\\/'), value.replaceAll('+', '\\u002B'), value.replaceAll('+', '\\u002b')];
}
