import type { HttpEnd } from '../../src/core/http.ts';

/** A complete answer. */
export function answered(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): HttpEnd {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { kind: 'answered', answer: { status, headers, body: Buffer.from(text) } };
}

/** The API's yes to an order (API part 4). */
export function created(number: string): HttpEnd {
  return answered(201, {
    status: 'success',
    data: { purchaseOrderNumber: number, orderState: 'NEW' },
    error: null,
  });
}

/** The API's no in its envelope (API part 7). */
export function refusal(
  status: number,
  code = status,
  headers: Record<string, string> = {},
): HttpEnd {
  return answered(
    status,
    { status: 'error', error: { code, message: 'parameters are invalid' } },
    headers,
  );
}

/** Nothing was written. */
export function unsent(message: string): HttpEnd {
  return { kind: 'unsent', error: new Error(message) };
}

/** It was written, and no complete answer came. */
export function broken(message: string, status?: number): HttpEnd {
  const error = new Error(message);
  return status === undefined ? { kind: 'broken', error } : { kind: 'broken', error, status };
}

export const PAGE = '<html><body>Please wait</body></html>';
