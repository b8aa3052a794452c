import type { IncomingMessage } from 'node:http';

/** One HTTP request, as far as it is known before its body. */
export type Call = {
  method: string;
  /** Without the query, which no operation uses. */
  path: string;
  headers: CallHeaders;
  request: IncomingMessage;
};

/** The headers that matter here; of a repeated one the first counts, but the values of Accept add up. */
export type CallHeaders = {
  host: string | undefined;
  authorization: string | undefined;
  contentType: string | undefined;
  contentEncoding: string | undefined;
  accept: string | undefined;
};

/** Reads the head of a request. Takes the headers as they came: Node's own object costs more than the rest of the call. */
export function callOf(request: IncomingMessage): Call {
  return {
    method: request.method ?? '',
    path: pathOf(request.url ?? ''),
    headers: headersOf(request.rawHeaders),
    request,
  };
}

function headersOf(raw: readonly string[]): CallHeaders {
  const found: CallHeaders = {
    host: undefined,
    authorization: undefined,
    contentType: undefined,
    contentEncoding: undefined,
    accept: undefined,
  };
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name: string = (raw[at] ?? '').toLowerCase();
    const value = raw[at + 1];
    switch (name) {
      case 'host':
        found.host ??= value;
        break;
      case 'authorization':
        found.authorization ??= value;
        break;
      case 'content-type':
        found.contentType ??= value;
        break;
      case 'content-encoding':
        found.contentEncoding ??= value;
        break;
      case 'accept':
        found.accept = found.accept === undefined ? value : `${found.accept}, ${value}`;
        break;
    }
  }
  return found;
}

/** The path of a request target in origin or absolute form (RFC 9112 part 3.2). */
function pathOf(target: string): string {
  const origin = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '');
  const query = origin.indexOf('?');
  return query < 0 ? origin : origin.slice(0, query);
}
