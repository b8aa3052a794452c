import type { Config, Mapping, Source } from '../config/config.ts';
import { nearest } from '../config/problem.ts';
import { PoSyncError } from '../core/errors.ts';

/** The mapping of the source that `sourceNamed` gives; undefined: the standard columns. Throws like that. */
export function mappingForSource(name: string | undefined, config: Config): Mapping | undefined {
  const source = sourceNamed(name, config);
  return source?.mapping === undefined ? undefined : config.mappings[source.mapping];
}

/** The named source; without a name the only source. Throws PoSyncError `source-unknown`. */
export function sourceNamed(name: string | undefined, { sources }: Config): Source | undefined {
  const only = sources.length === 1 ? sources[0] : undefined;
  const source = name === undefined ? only : sources.find((one) => one.name === name);
  if (name !== undefined && source === undefined) {
    throw unknownSource(
      name,
      sources.map((one) => one.name),
    );
  }
  return source;
}

function unknownSource(name: string, names: readonly string[]): PoSyncError {
  const near = nearest(name, names);
  return new PoSyncError('source-unknown', `Source ${name} not found.`, {
    remedy: near === undefined ? `Use one of: ${names.join(', ') || 'none'}.` : `Did you mean ${near}?`,
    facts: { source: name },
  });
}
