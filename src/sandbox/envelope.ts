import type { Reply } from './reply.ts';

/** A success with its data, which is JSON text already (spec part 2). */
export function success(status: number, data: string): Reply {
  return { kind: 'whole', status, body: `{"status":"success","data":${data},"error":null}` };
}

/** A failure; the numeric code is the HTTP status (spec parts 2 and 7). */
export function failure(status: number, message: string, headers?: Readonly<Record<string, string>>): Reply {
  return { kind: 'whole', status, body: failureText(status, message), ...(headers && { headers }) };
}

/** The envelope of a failure as text. */
export function failureText(code: number, message: string): string {
  return `{"status":"error","error":{"code":${code},"message":${JSON.stringify(message)}}}`;
}
