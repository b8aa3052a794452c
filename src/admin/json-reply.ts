import type { Reply } from './route.ts';

/** A small JSON document as an answer. */
export function jsonReply(status: number, document: unknown, headers: Record<string, string> = {}): Reply {
  return { status, type: 'application/json; charset=utf-8', body: `${JSON.stringify(document)}\n`, headers };
}
