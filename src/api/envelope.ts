/** An answer of the API, as the envelope of API parts 2 and 7; `none` for anything else. */
export type Envelope =
  | { kind: 'success'; data: unknown }
  | { kind: 'error'; code: number; message: string }
  | { kind: 'none' };

/** Reads the envelope of a complete body. A body that is no envelope, or contradicts itself, is `none`. */
export function readEnvelope(body: Buffer): Envelope {
  const value = parse(body);
  if (!isRecord(value)) return { kind: 'none' };
  const { status, data, error } = value;
  if (status === 'success') return error === null || error === undefined ? { kind: 'success', data } : { kind: 'none' };
  if (status !== 'error' || !isRecord(error)) return { kind: 'none' };
  const { code, message } = error;
  if (typeof code !== 'number' || !Number.isInteger(code)) return { kind: 'none' };
  return { kind: 'error', code, message: typeof message === 'string' ? message : '' };
}

/** Whether a value is an object with named properties. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
