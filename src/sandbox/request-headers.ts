import type { CallHeaders } from './call.ts';
import { failure } from './envelope.ts';
import type { Reply } from './reply.ts';

const JSON_TYPE = /^application\/json *(?:; *charset="?utf-8"? *)?$/i;

/**
 * Holds a request against the headers that every call must carry (spec part 5, rule 4),
 * and gives the refusal when one is missing or says something else.
 */
export function refuseHeaders({ contentType, contentEncoding, accept }: CallHeaders): Reply | undefined {
  if (contentType !== 'application/json' && !JSON_TYPE.test(contentType ?? '')) {
    return failure(415, `The header Content-Type must be application/json, not ${said(contentType)}.`);
  }
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    return failure(415, `The header Content-Encoding is not supported, found ${said(contentEncoding)}.`);
  }
  if (accept !== 'application/json' && !acceptsJson(accept ?? '')) {
    return failure(406, `The header Accept must be application/json, not ${said(accept)}.`);
  }
  return undefined;
}

function acceptsJson(accept: string): boolean {
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'application/json' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

function said(value: string | undefined): string {
  return value === undefined ? 'missing' : JSON.stringify(value.slice(0, 100));
}
