import type { Config } from '../../config/config.ts';
import { type Variables, variable } from '../../config/variables.ts';
import { PoSyncError } from '../../core/errors.ts';

/** The standard variables of OpenTelemetry that its exporter and its resource do not read themselves. */
export type TracingSettings = {
  /** The address of the collector; absent: the exporter takes it from its variables. */
  url?: string;
  /** The share of traces that are recorded, 0 to 1. */
  share: number;
  /** Milliseconds and spans; absent: the defaults of the processor. */
  queue: {
    scheduledDelayMillis?: number;
    exportTimeoutMillis?: number;
    maxQueueSize?: number;
    maxExportBatchSize?: number;
  };
  warnings: readonly string[];
};

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];
const QUEUE = {
  scheduledDelayMillis: 'OTEL_BSP_SCHEDULE_DELAY',
  exportTimeoutMillis: 'OTEL_BSP_EXPORT_TIMEOUT',
  maxQueueSize: 'OTEL_BSP_MAX_QUEUE_SIZE',
  maxExportBatchSize: 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
};

/**
 * The settings of tracing from `tracing` of the configuration and the standard variables, which take precedence;
 * undefined when tracing is off. Throws PoSyncError `tracing-unsupported`.
 */
export function tracingSettings(
  { tracing }: Pick<Config, 'tracing'>,
  env: Variables,
): TracingSettings | undefined {
  const exporter = variable(env, 'OTEL_TRACES_EXPORTER') ?? 'otlp';
  const isDisabled = variable(env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  if (!tracing.enabled || isDisabled || exporter === 'none') return undefined;
  if (exporter !== 'otlp') throw unsupported('OTEL_TRACES_EXPORTER', 'otlp or none');
  const protocol = PROTOCOLS.find((name) => variable(env, name) !== undefined);
  if (protocol !== undefined && variable(env, protocol) !== 'http/protobuf')
    throw unsupported(protocol, 'http/protobuf, with the port of OTLP over HTTP, usually 4318');
  const warnings: string[] = [];
  const isGiven = ENDPOINTS.some((name) => variable(env, name) !== undefined);
  const queue = Object.entries(QUEUE).map(([key, name]) => [
    key,
    readNumber(env, { name, least: 1, most: 1_000_000 }, warnings),
  ]);
  return {
    ...(tracing.endpoint !== undefined &&
      !isGiven && { url: `${tracing.endpoint.replace(/\/+$/, '')}/v1/traces` }),
    share: shareOf(env, warnings),
    queue: Object.fromEntries(queue.filter(([, value]) => value !== undefined)),
    warnings,
  };
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
      return readNumber(env, { name: `${name}_ARG`, least: 0, most: 1 }, warnings) ?? 1;
    default:
      warnings.push(`${name} names a sampler that po-sync does not have; every trace is recorded`);
      return 1;
  }
}

/** Undefined where the variable is not set, or cannot be used. */
function readNumber(
  env: Variables,
  { name, least, most }: { name: string; least: number; most: number },
  warnings: string[],
): number | undefined {
  const text = variable(env, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== '' && value >= least && value <= most) return value;
  warnings.push(`${name} must be a number from ${least} to ${most}; the default is used`);
  return undefined;
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
