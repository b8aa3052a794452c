import { z } from 'zod';
import type { Finding } from '../problem.ts';
import { configSchema, environmentSchema, type Settings } from '../schema.ts';
import { sourceFields } from '../source-schema.ts';
import type { Variables } from '../variables.ts';

/** One part without its invalid keys. */
const environmentParts = environmentSchema.partial();
const sourceParts = sourceFields.partial();

export type EnvironmentParts = z.output<typeof environmentParts>;
export type SourceParts = z.output<typeof sourceParts>;

/**
 * The valid parts of the file, so that rules between parts are checked even if another part is invalid.
 */
export type Readable = {
  environments: readonly (readonly [name: string, EnvironmentParts])[];
  sources: readonly (readonly [index: number, SourceParts])[];
  mappings: readonly string[];
  data: string | undefined;
  reports: string | undefined;
  redis: Settings['redis'] | undefined;
  delivery: Settings['delivery'] | undefined;
  admin: Settings['admin'] | undefined;
};

/** Extracts the valid parts of a file's values. */
export function readableParts(value: unknown): Readable {
  const raw = entries(value);
  const sources: unknown[] = Array.isArray(raw['sources']) ? raw['sources'] : [];
  const shape = configSchema.shape;
  return {
    environments: named(environmentParts, raw['environments']),
    sources: sources.map((part, index) => [index, rightKeys(sourceParts, part)]),
    mappings: Object.keys(entries(raw['mappings'])),
    data: right(shape.data, raw['data']),
    reports: right(shape.reports, raw['reports'])?.path,
    redis: right(shape.redis, raw['redis']),
    delivery: right(shape.delivery, raw['delivery']),
    admin: right(shape.admin, raw['admin']),
  };
}

function named<Parts extends z.ZodObject>(
  schema: Parts,
  value: unknown,
): [string, z.output<Parts>][] {
  return Object.entries(entries(value)).map(([name, part]) => [name, rightKeys(schema, part)]);
}

/** All keys are optional, so the rest is always valid. */
function rightKeys<Parts extends z.ZodObject>(schema: Parts, part: unknown): z.output<Parts> {
  const keys = Object.entries(entries(part)).filter(([key, value]) => {
    const field: unknown = Object.hasOwn(schema.shape, key) ? schema.shape[key] : undefined;
    return field instanceof z.ZodType && field.safeParse(value).success;
  });
  return schema.parse(Object.fromEntries(keys));
}

function right<Schema extends z.ZodType>(
  schema: Schema,
  part: unknown,
): z.output<Schema> | undefined {
  return schema.safeParse(part).data;
}

function entries(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** What rules know besides the file. */
export type Surroundings = {
  /** Folder of the configuration file, absolute: relative paths start there. */
  folder: string;
  env: Variables;
};

/** The findings of a rule: problems prevent the start, warnings are logged. */
export type Ruling = { problems: Finding[]; warnings: Finding[] };

/** One relation between parts of the configuration. */
export type Rule = (parts: Readable, surroundings: Surroundings) => Ruling;

/** Several rulings as one. */
export function together(rulings: readonly Ruling[]): Ruling {
  return {
    problems: rulings.flatMap(({ problems }) => problems),
    warnings: rulings.flatMap(({ warnings }) => warnings),
  };
}

/** Every item whose key an earlier item has, with that first item. */
export function repeated<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): [item: Item, first: Item][] {
  const firsts = new Map<string, Item>();
  return items.flatMap((item): [Item, Item][] => {
    const key = keyOf(item);
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, item);
    return first === undefined ? [] : [[item, first]];
  });
}
