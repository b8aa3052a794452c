import { z } from 'zod';
import { OPERATIONS } from './all.ts';
import { type Operation, parametersOf, takesFile } from './operation.ts';
import { problem } from './schemas.ts';

/** The operations as routes: OpenAPI 3.1. */
export function openApi(version: string): object {
  const paths = OPERATIONS.map((one) => [
    `/${one.name.replaceAll(' ', '/')}`,
    { [one.role === 'read' ? 'get' : 'post']: described(one) },
  ]);
  return {
    openapi: '3.1.0',
    info: { title: 'po-sync', version },
    servers: [{ url: '/api/v1' }],
    security: [{ bearer: [] }],
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      responses: { error: { description: 'why not', ...jsonOf(z.object({ error: problem })) } },
    },
  };
}

function described(one: Operation): object {
  const answers = {
    200: { description: 'the answer', ...jsonOf(one.output) },
    default: { $ref: '#/components/responses/error' },
  };
  const facts = { operationId: one.name.replaceAll(' ', '-'), summary: one.summary };
  const isFile = takesFile(one);
  if (one.role === 'operate' && !isFile)
    return { ...facts, requestBody: jsonOf(one.input), responses: answers };
  const { parameters, required } = parametersOf(one);
  const inQuery = Object.entries(parameters).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    description,
    schema,
  }));
  const bytes = { content: { 'application/octet-stream': {} } };
  return {
    ...facts,
    parameters: inQuery,
    ...(isFile && { requestBody: bytes }),
    responses: answers,
  };
}

function jsonOf(schema: z.ZodType): object {
  const { $schema: _, ...document } = z.toJSONSchema(schema, { io: 'input' });
  return { content: { 'application/json': { schema: document } } };
}
