import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import type { z } from 'zod';
import type { Config, Environment, Notice, Source } from './config.ts';
import { notation } from './fields.ts';
import { withoutCredentials } from './problem.ts';
import { configSchema } from './schema.ts';
import { isWebAddress } from './source-schema.ts';

/**
 * The resolved configuration in the file's own notation: every default, absolute paths, secrets redacted.
 * Where nothing is redacted, the text is itself a configuration file that resolves to the same.
 */
export function showConfig(config: Config): string {
  return stringify(configDocument(config), { lineWidth: 0 });
}

/** The same as a document. */
function configDocument(config: Config): unknown {
  const { file: _, ...settings } = redactedConfig(config);
  return inNotation(configSchema, settings);
}

/**
 * Identifies the settings that a daemon works with until it is restarted: another text, other settings. Not those that
 * variables of its process can replace. A path through a link is the one that it leads to.
 */
export function configurationOf({
  file: _f,
  data: _d,
  redis: _r,
  admin: _a,
  log: _l,
  ...settings
}: Config): string {
  return createHash('sha256')
    .update(JSON.stringify(settings, withRealPath))
    .digest('hex')
    .slice(0, 16);
}

function withRealPath(_: string, value: unknown): unknown {
  return typeof value === 'string' && path.isAbsolute(value) ? realPathOf(value) : value;
}

/** What exists of a path decides: an export may not be there yet, or be a pattern. */
function realPathOf(absolute: string): string {
  try {
    return realpathSync(absolute);
  } catch {
    const folder = path.dirname(absolute);
    return folder === absolute ? absolute : path.join(realPathOf(folder), path.basename(absolute));
  }
}

/** The configuration without its secrets, in the program's own units (milliseconds, fractions). */
export function redactedConfig(config: Config): Config {
  const { redis, sources, notify, environments } = config;
  return {
    ...config,
    redis: hideRedis(redis),
    environments: Object.fromEntries(
      Object.entries(environments).map(([name, one]) => [name, hideHeaders(one)]),
    ),
    sources: sources.map(hideQuery),
    notify: notify.map(hideWebhook),
  };
}

function hideRedis(redis: Config['redis']): Config['redis'] {
  return redis.url === undefined ? redis : { ...redis, url: withoutCredentials(redis.url) };
}

/** The values, not the files that contain others. */
function hideHeaders(environment: Environment): Environment {
  if (environment.headers === undefined) return environment;
  const hidden = Object.entries(environment.headers).map(([name, value]) => [
    name,
    typeof value === 'string' ? '[redacted]' : value,
  ]);
  return { ...environment, headers: Object.fromEntries(hidden) };
}

/** The query of a web address can contain a key. */
export function hideQuery(source: Source): Source {
  return isWebAddress(source.path)
    ? { ...source, path: source.path.replace(/\?.*$/, '?[redacted]') }
    : source;
}

/** The path of a webhook is its secret. */
function hideWebhook(notice: Notice): Notice {
  return notice.webhook === undefined
    ? notice
    : { ...notice, webhook: `${new URL(notice.webhook).origin}/[redacted]` };
}

/** Writes a value back as the file has it, by the schema that read it: durations, shares, and whatever else has a notation. */
function inNotation(schema: z.core.$ZodType, value: unknown): unknown {
  const write = notation.get(schema)?.write;
  if (write) return write(value);
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'prefault':
    case 'optional':
      return inNotation(def.innerType, value);
    case 'array':
      return Array.isArray(value) ? value.map((item) => inNotation(def.element, item)) : value;
    case 'record':
      return mapEntries(value, (_, inner) => inNotation(def.valueType, inner));
    case 'object':
      return mapEntries(value, (key, inner) =>
        def.shape[key] ? inNotation(def.shape[key], inner) : inner,
      );
    case 'union': {
      const option = def.options.find((one) => isOf(one, value));
      return option === undefined ? value : inNotation(option, value);
    }
    default:
      return value;
  }
}

/** Whether a value belongs to an option of a union: literals, and the literal keys of objects, decide. */
function isOf(option: z.core.$ZodType, value: unknown): boolean {
  const { def } = (option as z.core.$ZodTypes)._zod;
  if (def.type === 'literal') return def.values.some((one) => one === value);
  if (def.type !== 'object' || typeof value !== 'object' || value === null) return true;
  const given = new Map(Object.entries(value));
  return Object.entries(def.shape).every(([key, inner]) => {
    return (inner as z.core.$ZodTypes)._zod.def.type !== 'literal' || isOf(inner, given.get(key));
  });
}

function mapEntries(value: unknown, change: (key: string, inner: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, change(key, inner)]));
}
