import { stringify } from 'yaml';
import { z } from 'zod';
import type { Config, Environment, Notice, Source } from './config.ts';
import { withoutCredentials } from './problem.ts';
import { configSchema } from './schema.ts';
import { isWebAddress } from './source-schema.ts';

/**
 * The resolved configuration in the file's own notation: every default, absolute paths, secrets redacted.
 * Where nothing is redacted, the text is itself a configuration file that resolves to the same.
 */
export function showConfig(config: Config): string {
  const { file: _, ...settings } = redactedConfig(config);
  return stringify(z.encode(configSchema, settings), { lineWidth: 0 });
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
