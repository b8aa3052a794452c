import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { openWebServer } from './web-server.ts';

/** A span as a collector receives it. Times are milliseconds since 1970. */
export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  kind: number;
  start: number;
  end: number;
  attributes: Record<string, string | number | boolean>;
  /** 2 is an error. */
  status: { code: number; message: string };
  /** Traces and spans that it links to. */
  links: { traceId: string; spanId: string }[];
  resource: Record<string, string | number | boolean>;
};

type Collected = {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  spans: ReceivedSpan[];
};

/** A collector of OTLP over HTTP. `answer` replaces the usual answer; a request that it answers is kept as well. */
export async function openCollector(answer?: (response: ServerResponse) => unknown) {
  const requests: Collected[] = [];
  const server = await openWebServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const sent = Buffer.concat(pieces);
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
    const spans = spansOfProtobuf(body);
    requests.push({ path: request.url ?? '', headers: request.headers, body, spans });
    if (collector.answer) collector.answer(response);
    else response.writeHead(200, { 'content-type': request.headers['content-type'] ?? '' }).end();
  });
  const collector = {
    answer,
    requests,
    url: `http://127.0.0.1:${server.port}`,
    spans: () => requests.flatMap((one) => one.spans),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return collector;
}

/** A field of a message: a number, or bytes. */
type Field = { no: number; value: bigint | Buffer };

/** The fields of a message in the wire format of protocol buffers. */
function fieldsOf(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at];
      if (byte === undefined) throw new Error('the message is cut off');
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    at += length;
    if (at > bytes.length) throw new Error('the message is cut off');
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const type = tag & 7;
    if (type === 0) fields.push({ no: tag >> 3, value: varint() });
    else if (type === 1) fields.push({ no: tag >> 3, value: take(8).readBigUInt64LE() });
    else if (type === 2) fields.push({ no: tag >> 3, value: take(Number(varint())) });
    else if (type === 5) fields.push({ no: tag >> 3, value: BigInt(take(4).readUInt32LE()) });
    else throw new Error(`unknown wire type ${type}`);
  }
  return fields;
}

/** The values of one field. */
function all(bytes: Buffer, no: number): Buffer[] {
  return fieldsOf(bytes).flatMap((field) =>
    field.no === no && Buffer.isBuffer(field.value) ? [field.value] : [],
  );
}

function number(bytes: Buffer, no: number): bigint {
  const found = fieldsOf(bytes).find((field) => field.no === no)?.value;
  return typeof found === 'bigint' ? found : 0n;
}

const text = (bytes: Buffer, no: number): string => all(bytes, no)[0]?.toString() ?? '';
const hex = (bytes: Buffer, no: number): string => all(bytes, no)[0]?.toString('hex') ?? '';

/** opentelemetry/proto/trace/v1/trace.proto. */
function spansOfProtobuf(body: Buffer): ReceivedSpan[] {
  return all(body, 1).flatMap((group) => {
    const resource = all(group, 1).map((one) => attributesOf(one, 1))[0] ?? {};
    const spans = all(group, 2).flatMap((scope) => all(scope, 2));
    return spans.map((span) => ({
      traceId: hex(span, 1),
      spanId: hex(span, 2),
      parentSpanId: hex(span, 4),
      name: text(span, 5),
      kind: Number(number(span, 6)),
      start: Number(number(span, 7)) / 1e6,
      end: Number(number(span, 8)) / 1e6,
      attributes: attributesOf(span, 9),
      links: all(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
      status: all(span, 15).map((one) => ({
        code: Number(number(one, 3)),
        message: text(one, 2),
      }))[0] ?? {
        code: 0,
        message: '',
      },
      resource,
    }));
  });
}

function attributesOf(bytes: Buffer, no: number): ReceivedSpan['attributes'] {
  return Object.fromEntries(
    all(bytes, no).map((pair) => [
      text(pair, 1),
      all(pair, 2).map((value) => scalarOf(value))[0] ?? '',
    ]),
  );
}

function scalarOf(bytes: Buffer): string | number | boolean {
  const [field] = fieldsOf(bytes);
  if (field === undefined) return '';
  if (Buffer.isBuffer(field.value)) return field.value.toString();
  return field.no === 2 ? field.value === 1n : Number(field.value);
}
