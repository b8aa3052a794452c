import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

const DOCS = path.resolve(import.meta.dirname, '../../docs');

type Answer = { content?: { 'application/json'?: { schema: object } } };
type Operation = { responses: Record<string, Answer> };
export type ControlDocument = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};

/** docs/control-api.json. */
export const document = JSON.parse(
  await readFile(path.join(DOCS, 'control-api.json'), 'utf8'),
) as ControlDocument;

const ajv = new Ajv2020({ allErrors: true, strict: false });
ajv.addSchema(
  JSON.parse(await readFile(path.join(DOCS, 'command-output.schema.json'), 'utf8')),
  'command-output.schema.json',
);
ajv.addSchema(document, 'control-api.json');

/** The operation of a request: the template whose steps fit. */
function templateOf(route: string): string {
  const steps = `/${route.split('?', 1)[0]}`.split('/');
  const fits = (template: string) => {
    const wanted = template.split('/');
    return (
      wanted.length === steps.length &&
      wanted.every((step, i) => step.startsWith('{') || step === steps[i])
    );
  };
  const [found] = Object.keys(document.paths)
    .filter(fits)
    .sort((a, b) => a.split('{').length - b.split('{').length);
  if (found === undefined) throw new Error(`${route} is not documented`);
  return found;
}

/** Compares an answer without an error with its schema. `route` begins behind `/api/v1/`. */
export function matchesDocument(
  method: string,
  route: string,
  status: number,
  body: unknown,
): void {
  const template = templateOf(route).replaceAll('~', '~0').replaceAll('/', '~1');
  const place = `/paths/${template}/${method.toLowerCase()}/responses/${status}/content/application~1json/schema`;
  const check = ajv.getSchema(`control-api.json#${place}`);
  if (!check) throw new Error(`${method} ${route} with ${status} has no schema`);
  void check(body);
  expect([route, check.errors ?? []]).toEqual([route, []]);
}
