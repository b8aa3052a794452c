import type { HttpAnswer, HttpEnd } from '../core/http.ts';
import { createRedaction } from '../log/redaction.ts';
import type { BearerToken } from './token.ts';

/** Removes the token of the request from the answer: some APIs and proxies repeat what they receive. */
export function hideToken(end: HttpEnd, token: BearerToken): HttpEnd {
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
