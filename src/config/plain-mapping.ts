import type { Mapping } from './config.ts';
import { mappingSchema } from './mapping-schema.ts';

/** The mapping of a source that has none: the specification's own names (spec part 2), everything else found out. */
export function plainMapping(): Mapping {
  return mappingSchema.parse({});
}
