import { join } from 'node:path';
import { PoSyncError } from '../core/errors.ts';
import type { Settings } from './schema.ts';

/**
 * The configuration as the program uses it: the file's settings (`configSchema`) with every default, absolute paths,
 * durations in milliseconds and shares as fractions. Frozen. Secrets are not part of it (see `secrets.ts`).
 */
export type Config = Settings & {
  /** The configuration file, absolute. */
  file: string;
  /** The chosen environment, one of the keys of `environments`. */
  environment: string;
};

export type Environment = Config['environments'][string];
export type Source = Config['sources'][number];
export type InboxSource = Extract<Source, { type: 'inbox' }>;
export type ExportSource = Extract<Source, { type: 'export' }>;
export type Mapping = Config['mappings'][string];
export type Notice = Config['notify'][number];
export type Delivery = Config['delivery'];

/** The chosen environment; every loaded configuration has it. */
export function environmentOf({ environments, environment }: Config): Environment {
  const found = environments[environment];
  if (found === undefined)
    throw new PoSyncError('environment-unknown', `there is no environment ${environment}.`);
  return found;
}

const OF_NPM_START = join(import.meta.dirname, '..', '..', 'config', 'sandbox.yaml');

/** What starts a daemon with this configuration; `npm start` also starts the sandbox that it delivers to. */
export function startCommandOf({ file }: Pick<Config, 'file'>): 'npm start' | 'po-sync start' {
  return file === OF_NPM_START ? 'npm start' : 'po-sync start';
}

export type NamedMapping = { name: string; mapping: Mapping };

/** The mappings of a source, of which a file has one; none where it uses the field names of the API (API part 2). */
export function mappingsFor(
  { sources, mappings }: Pick<Config, 'sources' | 'mappings'>,
  source: string,
): NamedMapping[] {
  const named = sources.find(({ name }) => name === source)?.mapping ?? [];
  return [named].flat().flatMap((name) => {
    const mapping = mappings[name];
    return mapping === undefined ? [] : [{ name, mapping }];
  });
}
