/** What a route answers: a text with its type. */
export type Reply = { status: number; type: string; body: string; headers?: Record<string, string> };

/** One path of the admin port. Without credentials of its own: whoever gets here has passed the guard. */
export type Route = {
  method: 'GET' | 'POST';
  /** The exact path, without query. */
  path: string;
  handle(request: { url: URL }): Promise<Reply> | Reply;
};
