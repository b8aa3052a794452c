import { z } from 'zod';
import type { KeyPath } from './problem.ts';
import { configSchema } from './schema.ts';

/** The configuration file's JSON Schema (draft 2020-12), for editors and generators. */
export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(configSchema, { io: 'input' });
  return { $schema, title: 'po-sync configuration', ...rest };
}

/** The valid keys at a path of the file; empty where any name is valid or nothing is known. */
export function keysAt(schema: unknown, path: KeyPath): string[] {
  const found = path.reduce<unknown[]>(
    (places, segment) => places.flatMap((place) => stepInto(place, segment)),
    [schema],
  );
  return [...new Set(found.flatMap(alternatives).flatMap((place) => Object.keys(record(record(place)['properties']))))];
}

function stepInto(place: unknown, segment: string | number): unknown[] {
  return alternatives(place).flatMap((option) => {
    const { properties, additionalProperties, items } = record(option);
    if (typeof segment === 'number') return items === undefined ? [] : [items];
    const property = record(properties)[segment] ?? additionalProperties;
    return typeof property === 'object' ? [property] : [];
  });
}

function alternatives(place: unknown): unknown[] {
  const { oneOf, anyOf } = record(place);
  const options = oneOf ?? anyOf;
  return Array.isArray(options) ? options : [place];
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
