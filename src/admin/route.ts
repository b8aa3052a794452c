/** The answer of a route: a text with its type. */
export type Reply = { status: number; type: string; body: string; headers?: Record<string, string> };

/** One path of the admin port. Its requests have passed the guard. */
export type Route = {
  method: 'GET' | 'POST';
  /** The exact path, without query. */
  path: string;
  handle(request: { url: URL }): Promise<Reply> | Reply;
};

/** A small JSON document as an answer. */
export function jsonReply(status: number, document: unknown, headers: Record<string, string> = {}): Reply {
  return { status, type: 'application/json; charset=utf-8', body: `${JSON.stringify(document)}\n`, headers };
}
