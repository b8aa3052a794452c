import type { Config, Mapping } from './config.ts';

/** The mapping of a source; undefined where its columns are taken by their usual names. */
export function mappingFor({ sources, mappings }: Config, name: string): Mapping | undefined {
  const mapping = sources.find((source) => source.name === name)?.mapping;
  return mapping === undefined ? undefined : mappings[mapping];
}
