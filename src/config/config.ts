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
