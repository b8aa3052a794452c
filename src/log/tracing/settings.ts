import type { Config } from '../../config/config.ts';
import { type Variables, variable } from '../../config/variables.ts';
import { PoSyncError } from '../../core/errors.ts';
import { openTls, type Tls } from '../../core/tls-files.ts';

/** Where spans are sent, and how many may wait. Times are milliseconds. */
export type TracingSettings = {
  url: URL;
  headers: Readonly<Record<string, string>>;
  /** The encoding of OTLP. */
  format: 'protobuf' | 'json';
  gzip: boolean;
  timeout: number;
  tls?: Tls;
  /** The share of traces that are recorded, 0 to 1. */
  share: number;
  /** The longest wait of a span, the most spans that wait, and the most of one request. */
  queue: { delay: number; size: number; batch: number };
  /** Resource attributes that the operator sets. */
  resource: Readonly<Record<string, string>>;
  warnings: readonly string[];
};

const PREFIX = 'OTEL_EXPORTER_OTLP';
const LOCAL = 'http://localhost:4318';

/**
 * The settings of tracing from `tracing` of the configuration and the standard variables of OpenTelemetry, which take
 * precedence; undefined when tracing is off. Throws PoSyncError `tracing-unsupported`, `tracing-invalid`, `tls-file-…`.
 */
export function tracingSettings(
  { tracing }: Pick<Config, 'tracing'>,
  env: Variables,
): TracingSettings | undefined {
  const exporters = (variable(env, 'OTEL_TRACES_EXPORTER') ?? 'otlp')
    .split(',')
    .map((name) => name.trim());
  const isDisabled = variable(env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  if (!tracing.enabled || isDisabled || exporters.includes('none')) return undefined;
  if (!exporters.includes('otlp')) throw unsupported('OTEL_TRACES_EXPORTER', 'otlp or none');
  const warnings: string[] = [];
  const number = (name: string, least: number, most: number, otherwise: number) =>
    readNumber(env, { name, least, most, otherwise }, warnings);
  const size = number('OTEL_BSP_MAX_QUEUE_SIZE', 1, 1_000_000, 2_048);
  const tls = tlsOf(env);
  return {
    url: urlOf(env, tracing.endpoint),
    headers: {
      ...pairsOf(env, `${PREFIX}_HEADERS`, warnings),
      ...pairsOf(env, `${PREFIX}_TRACES_HEADERS`, warnings),
    },
    format: formatOf(env),
    gzip: isGzipped(env),
    timeout: Math.min(
      number(specific(env, 'TIMEOUT'), 1, 600_000, 10_000),
      number('OTEL_BSP_EXPORT_TIMEOUT', 1, 600_000, 30_000),
    ),
    ...(tls && { tls }),
    share: shareOf(env, warnings),
    queue: {
      delay: number('OTEL_BSP_SCHEDULE_DELAY', 1, 600_000, 5_000),
      size,
      batch: Math.min(size, number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 1, 1_000_000, 512)),
    },
    resource: resourceOf(env, warnings),
    warnings,
  };
}

/** The variable for traces, if it is set, before the one for all signals. */
function specific(env: Variables, name: string): string {
  const own = `${PREFIX}_TRACES_${name}`;
  return variable(env, own) === undefined ? `${PREFIX}_${name}` : own;
}

/** The address for traces is used as it is; the others get the path of OTLP. */
function urlOf(env: Variables, endpoint: string | undefined): URL {
  const name = specific(env, 'ENDPOINT');
  const given = variable(env, name);
  const text = given ?? endpoint ?? LOCAL;
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw invalid(name, 'an address such as http://otel:4318');
  const url = new URL(text);
  // The request would send them in clear text with every batch; a header can be kept out of logs.
  if (url.username !== '' || url.password !== '')
    throw invalid(name, 'an address without credentials');
  const isComplete = given !== undefined && name === `${PREFIX}_TRACES_ENDPOINT`;
  if (!isComplete) url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
  return url;
}

function formatOf(env: Variables): 'protobuf' | 'json' {
  const name = specific(env, 'PROTOCOL');
  switch (variable(env, name) ?? 'http/protobuf') {
    case 'http/protobuf':
      return 'protobuf';
    case 'http/json':
      return 'json';
    default:
      throw unsupported(
        name,
        'http/protobuf or http/json, with the port of OTLP over HTTP, usually 4318',
      );
  }
}

function isGzipped(env: Variables): boolean {
  const name = specific(env, 'COMPRESSION');
  const wanted = variable(env, name) ?? 'none';
  if (wanted !== 'gzip' && wanted !== 'none') throw unsupported(name, 'gzip or none');
  return wanted === 'gzip';
}

function tlsOf(env: Variables): Tls | undefined {
  const files = { caFile: 'CERTIFICATE', certFile: 'CLIENT_CERTIFICATE', keyFile: 'CLIENT_KEY' };
  const given = Object.entries(files).flatMap(([key, name]) => {
    const file = variable(env, specific(env, name));
    return file === undefined ? [] : [[key, file]];
  });
  return given.length === 0 ? undefined : openTls(Object.fromEntries(given));
}

/** No order continues a foreign trace, so a parent-based sampler is the sampler that it wraps. */
function shareOf(env: Variables, warnings: string[]): number {
  const name = 'OTEL_TRACES_SAMPLER';
  const sampler = variable(env, name) ?? 'always_on';
  switch (sampler.replace(/^parentbased_/, '')) {
    case 'always_on':
      return 1;
    case 'always_off':
      return 0;
    case 'traceidratio':
      return readNumber(env, { name: `${name}_ARG`, least: 0, most: 1, otherwise: 1 }, warnings);
    default:
      warnings.push(`${name} names a sampler that po-sync does not have; every trace is recorded`);
      return 1;
  }
}

function resourceOf(env: Variables, warnings: string[]): Record<string, string> {
  const service = variable(env, 'OTEL_SERVICE_NAME');
  return {
    ...pairsOf(env, 'OTEL_RESOURCE_ATTRIBUTES', warnings),
    ...(service === undefined ? {} : { 'service.name': service }),
  };
}

/** `name=value,name=value`, values percent-encoded. Never repeats a value, which can be a secret. */
function pairsOf(env: Variables, name: string, warnings: string[]): Record<string, string> {
  const pairs = (variable(env, name) ?? '').split(',').filter((pair) => pair.trim() !== '');
  const read = pairs.flatMap((pair): [string, string][] => {
    const [key = '', ...rest] = pair.split('=');
    const value = decoded(rest.join('=').trim());
    return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(key.trim()) &&
      value !== undefined &&
      /^[\t\x20-\x7e]*$/.test(value)
      ? [[key.trim(), value]]
      : [];
  });
  if (read.length < pairs.length)
    warnings.push(`${name} must be name=value pairs with commas; others are left out`);
  return Object.fromEntries(read);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

type NumberVariable = { name: string; least: number; most: number; otherwise: number };

function readNumber(
  env: Variables,
  { name, least, most, otherwise }: NumberVariable,
  warnings: string[],
): number {
  const text = variable(env, name);
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (text.trim() !== '' && value >= least && value <= most) return value;
  warnings.push(`${name} must be a number from ${least} to ${most}; ${otherwise} is used`);
  return otherwise;
}

function unsupported(name: string, known: string): PoSyncError {
  return new PoSyncError(
    'tracing-unsupported',
    `Tracing is on, and ${name} names something that po-sync lacks.`,
    {
      remedy: `Set ${name} to ${known}, or set tracing.enabled to false.`,
      facts: { variable: name },
    },
  );
}

function invalid(name: string, wanted: string): PoSyncError {
  return new PoSyncError('tracing-invalid', `Tracing is on, and ${name} is not ${wanted}.`, {
    remedy: 'Correct it, or set tracing.enabled to false.',
    facts: { variable: name },
  });
}
