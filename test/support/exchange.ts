import { type IncomingHttpHeaders, request } from 'node:http';

/** One call and its complete answer. */
export type Exchange = {
  method: string;
  url: string;
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The body as a JSON object; {} when it is none. */
  json: Record<string, unknown>;
};

export type ExchangeOptions = {
  headers?: Record<string, string>;
  body?: string | Buffer;
  localAddress?: string;
};

/**
 * Makes one HTTP call with exactly the headers given, on a separate connection. Rejects when the connection ends before
 * the answer does.
 */
export function exchange(
  method: string,
  url: string,
  options: ExchangeOptions = {},
): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const { localAddress, body } = options;
    // Node frames the body of a GET or DELETE only when its length is given.
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const headers = { ...length, ...options.headers };
    const call = request(
      url,
      { method, headers, agent: false, ...(localAddress && { localAddress }) },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({
            method,
            url,
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text,
            json: jsonOf(text),
          });
        });
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}

function jsonOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
