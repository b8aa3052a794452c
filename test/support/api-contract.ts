import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import type { Exchange } from './exchange.ts';

/** Holds answers against an OpenAPI document. */
export type ApiContract = {
  /** Throws, saying what differs, when an answer is not one that the document describes. */
  check(exchange: Exchange): void;
  /** How many answers were checked, by operation and status. */
  seen: Map<string, number>;
};

type Response = {
  $ref?: string;
  content?: Record<string, { schema: unknown }>;
  headers?: Record<string, unknown>;
};
export type ApiDocument = {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
  components: { responses: Record<string, Response> };
};

/** The document that is committed in docs/, or another one. */
export function apiContract(
  document: ApiDocument = parse(readFileSync('docs/openapi.yaml', 'utf8')),
): ApiContract {
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(document, 'api');
  const seen = new Map<string, number>();
  const validators = new Map<string, ValidateFunction>();

  function validator(reference: string): ValidateFunction {
    const made = validators.get(reference) ?? ajv.compile({ $ref: `api${reference}` });
    validators.set(reference, made);
    return made;
  }

  /** What the document says of this answer; an undocumented call may only be refused, with an envelope. */
  function responseTo({ method, url, status }: Exchange): Response {
    const path = new URL(url).pathname.replace(/^\/api\/v1/, '');
    const responses = document.paths[path]?.[method.toLowerCase()]?.responses;
    if (responses === undefined) return { content: envelope };
    const found = responses[status] ?? responses.default ?? {};
    const name = found.$ref?.split('/').at(-1);
    return name === undefined ? found : (document.components.responses[name] ?? {});
  }

  return {
    seen,
    check(exchange) {
      const { method, url, status, headers, text } = exchange;
      const label = `${method} ${new URL(url).pathname} ${status}`;
      seen.set(label, (seen.get(label) ?? 0) + 1);
      const response = responseTo(exchange);
      const type = headers['content-type']?.split(';')[0] ?? 'none';
      const schema = response.content?.[type]?.schema;
      if (schema === undefined) throw new Error(`${label}: the document knows no ${type}`);
      for (const header of Object.keys(response.headers ?? {})) {
        if (headers[header.toLowerCase()] === undefined)
          throw new Error(`${label}: the header ${header} is missing`);
      }
      const check = validator((schema as { $ref: string }).$ref);
      if (method === 'HEAD' && text === '') return;
      if (!check(JSON.parse(text)))
        throw new Error(`${label}: ${ajv.errorsText(check.errors)} in ${text.slice(0, 500)}`);
    },
  };
}

const envelope = { 'application/json': { schema: { $ref: '#/components/schemas/ErrorEnvelope' } } };
