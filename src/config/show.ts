import { stringify } from 'yaml';
import type { Config, Delivery, Environment, Mapping, Notice, Source } from './config.ts';
import { formatDuration } from './duration.ts';
import { withoutCredentials } from './shown.ts';
import { isWebAddress } from './source-schema.ts';

/**
 * The configuration as it works, in the file's own form: every default filled in, paths absolute, secrets redacted.
 * Where nothing is redacted, the text is itself a configuration file that resolves to the same.
 */
export function showConfig(config: Config): string {
  const { file: _, ledger, reports, ...rest } = config;
  const shown = {
    ...rest,
    redis: hideRedis(config.redis),
    environments: mapValues(config.environments, showEnvironment),
    sources: config.sources.map(showSource),
    mappings: mapValues(config.mappings, showMapping),
    reports: { ...reports, keep: formatDuration(reports.keep) },
    ledger: { keep: ledger.keep === 'forever' ? ledger.keep : formatDuration(ledger.keep) },
    notify: config.notify.map(hideWebhook),
    delivery: showDelivery(config.delivery),
  };
  return stringify(shown, { lineWidth: 0 });
}

/** The configuration without its secrets, in the program's own units (milliseconds, fractions). */
export function redactedConfig(config: Config): Config {
  const { redis, sources, notify } = config;
  return { ...config, redis: hideRedis(redis), sources: sources.map(hideQuery), notify: notify.map(hideWebhook) };
}

function hideRedis({ url }: Config['redis']): Config['redis'] {
  return url === undefined ? {} : { url: withoutCredentials(url) };
}

/** Keys are handed over in the query of a web address. */
function hideQuery(source: Source): Source {
  return isWebAddress(source.path) ? { ...source, path: source.path.replace(/\?.*$/, '?[redacted]') } : source;
}

/** Whoever knows the path of a webhook may call it. */
function hideWebhook(notice: Notice): Notice {
  return notice.webhook === undefined ? notice : { ...notice, webhook: `${new URL(notice.webhook).origin}/[redacted]` };
}

function showEnvironment({ rateLimit, ...rest }: Environment): object {
  return rateLimit === undefined ? rest : { ...rest, rateLimit: { ...rateLimit, per: formatDuration(rateLimit.per) } };
}

function showSource(source: Source): object {
  const isDuration = (key: string) => ['stable', 'poll', 'expectEvery', 'timeout', 'idle'].includes(key);
  const shown = Object.entries(hideQuery(source)).map(([key, value]) => {
    return [key, isDuration(key) && typeof value === 'number' ? formatDuration(value) : value];
  });
  return Object.fromEntries(shown);
}

function showMapping({ fields, ...rest }: Mapping): object {
  return { ...rest, fields: mapValues(fields, (names) => (names.length === 1 ? names[0] : names)) };
}

function showDelivery(delivery: Delivery): object {
  const { timeout, settle, backoff, probe, refusalHold } = delivery;
  return {
    ...delivery,
    timeout: formatDuration(timeout),
    settle: formatDuration(settle),
    backoff: mapValues(backoff, formatDuration),
    probe: mapValues(probe, formatDuration),
    // Three decimals, as a file may have them; more would be rounding noise.
    refusalHold: { ...refusalHold, share: `${Number((refusalHold.share * 100).toFixed(3))}%` },
  };
}

function mapValues<Value, Result>(values: Readonly<Record<string, Value>>, change: (value: Value) => Result) {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}
