import type { z } from 'zod';
import { type EnvironmentSettings, environmentSchema } from './environment-schema.ts';
import { type MappingSettings, mappingSchema } from './mapping-schema.ts';
import { configSchema, type Settings } from './schema.ts';
import { type SourceSettings, sourceSchema } from './source-schema.ts';

/**
 * Every part of the file that is right by itself, so that the rules between parts can speak although another part
 * is wrong. Wrong parts are left out; their names still count as given.
 */
export type Readable = {
  environmentNames: readonly string[];
  environments: readonly (readonly [name: string, EnvironmentSettings])[];
  sources: readonly (readonly [index: number, SourceSettings])[];
  mappingNames: readonly string[];
  mappings: readonly (readonly [name: string, MappingSettings])[];
  data: string | undefined;
  reports: string | undefined;
  redis: Settings['redis'] | undefined;
  delivery: Settings['delivery'] | undefined;
  admin: Settings['admin'] | undefined;
};

/** Takes what can be read out of a file's plain values, whatever they are. */
export function readableParts(value: unknown): Readable {
  const raw = entries(value);
  const environments = Object.entries(entries(raw['environments']));
  const mappings = Object.entries(entries(raw['mappings']));
  const sources: unknown[] = Array.isArray(raw['sources']) ? raw['sources'] : [];
  const shape = configSchema.shape;
  return {
    environmentNames: environments.map(([name]) => name),
    environments: environments.flatMap(([name, part]) =>
      right(environmentSchema, part).map((it) => [name, it] as const),
    ),
    sources: sources.flatMap((part, index) => right(sourceSchema, part).map((it) => [index, it] as const)),
    mappingNames: mappings.map(([name]) => name),
    mappings: mappings.flatMap(([name, part]) => right(mappingSchema, part).map((it) => [name, it] as const)),
    data: right(shape.data, raw['data'])[0],
    reports: right(shape.reports, raw['reports'])[0]?.path,
    redis: right(shape.redis, raw['redis'])[0],
    delivery: right(shape.delivery, raw['delivery'])[0],
    admin: right(shape.admin, raw['admin'])[0],
  };
}

function right<Schema extends z.ZodType>(schema: Schema, part: unknown): z.output<Schema>[] {
  const read = schema.safeParse(part);
  return read.success ? [read.data] : [];
}

function entries(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}
