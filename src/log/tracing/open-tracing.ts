import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Config, environmentOf } from '../../config/config.ts';
import type { Variables } from '../../config/variables.ts';
import type { Clock } from '../../core/clock.ts';
import { codeOf, PoSyncError, toError } from '../../core/errors.ts';
import { PURCHASE_ORDER } from '../../order/record-kind.ts';
import { configWarning, spansLost, tracingStarted, tracingTrouble } from '../events/daemon.ts';
import type { Log } from '../log.ts';
import type { Tracer } from '../tracer.ts';
import { createOrderSpans } from './order-spans.ts';
import { type TracingSettings, tracingSettings } from './settings.ts';
import type { EndedSpan, Recorder, SpanIds } from './span.ts';
import { SpanQueue } from './span-queue.ts';

type TracingDeps = {
  config: Config;
  env: Variables;
  clock: Clock;
  log: Log;
  /** The program itself. */
  self: { pid: number; version: string };
  /** Keeps a value out of the log. */
  hide: (secret: string) => void;
};

/** Tracing that is on; disposing sends the spans that wait. */
export type Tracing = AsyncDisposable & { tracer: Tracer };

/**
 * Opens tracing if the configuration asks for it. Only then the packages of OpenTelemetry are loaded. Throws PoSyncError
 * `tracing-packages-missing`, and those of `tracingSettings`.
 */
export async function openTracing(deps: TracingDeps): Promise<Tracing | undefined> {
  const { config, env, log, clock, self } = deps;
  const settings = tracingSettings(config, env);
  if (settings === undefined) return undefined;
  for (const header of Object.values(settings.headers)) deps.hide(header);
  const packages = await loadPackages();
  const { transformer } = packages;
  const queue = new SpanQueue({
    settings,
    serializer:
      settings.format === 'json'
        ? transformer.JsonTraceSerializer
        : transformer.ProtobufTraceSerializer,
    clock,
    userAgent: `po-sync/${self.version}`,
    onTrouble: (reason) => tracingTrouble(log, { reason }),
  });
  for (const warning of settings.warnings) configWarning(log, warning);
  tracingStarted(log, { host: settings.url.host, share: settings.share });
  const url = new URL(`${environmentOf(config).baseUrl}${PURCHASE_ORDER.path}`);
  const recorder = createRecorder(packages, queue, settings, deps);
  const { environment, tracing } = config;
  return {
    tracer: guarded(
      createOrderSpans({ recorder, clock, environment, url, traceparent: tracing.traceparent }),
      (error) => tracingTrouble(log, { reason: toError(error).message }),
    ),
    async [Symbol.asyncDispose]() {
      await queue.shutdown();
      const { failed, dropped } = queue.counts();
      if (failed + dropped > 0) spansLost(log, { failed, dropped });
    },
  };
}

/** The same functions, which never throw: a fault of tracing must not end an attempt whose request was sent. */
function guarded<Part extends object>(part: Part, onError: (error: unknown) => void): Part {
  const safe = Object.entries(part).map(([name, value]) => {
    if (typeof value !== 'function') return [name, value];
    return [
      name,
      (...given: unknown[]) => {
        try {
          const result: unknown = value(...given);
          return typeof result === 'object' && result !== null ? guarded(result, onError) : result;
        } catch (error) {
          onError(error);
          return undefined;
        }
      },
    ];
  });
  return Object.fromEntries(safe) as Part;
}

/** Without `api`, which prom-client brings in any case. */
const PACKAGES = ['otlp-transformer', 'resources', 'sdk-trace'];

async function loadPackages() {
  try {
    const [api, transformer, resources, sdk] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/otlp-transformer'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/sdk-trace'),
    ]);
    return { api, transformer, resources, sdk };
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    const names = PACKAGES.map((name) => `@opentelemetry/${name}`).join(', ');
    throw new PoSyncError(
      'tracing-packages-missing',
      `Tracing is on, and its packages are not installed: ${names}.`,
      {
        remedy:
          'Install all packages of po-sync (npm ci in a checkout), or set tracing.enabled to false.',
        cause: error,
      },
    );
  }
}

type Packages = Awaited<ReturnType<typeof loadPackages>>;

/** The longest text of an attribute. */
const LONGEST_VALUE = 512;

/** Records spans with the SDK; its own provider, so that no other library of the process is traced by accident. */
function createRecorder(
  { api, resources, sdk }: Packages,
  queue: SpanQueue,
  settings: TracingSettings,
  { config, self }: TracingDeps,
): Recorder {
  const random = new sdk.RandomIdGenerator();
  /** The identifiers of the next span, when they are given. */
  let next: Partial<SpanIds> = {};
  const sampler = new sdk.TraceIdRatioBasedSampler(settings.share);
  const provider = new sdk.TracerProvider({
    resource: resources.resourceFromAttributes(resourceOf(config, self, settings)),
    spanProcessors: [queue],
    spanLimits: { attributeValueLengthLimit: LONGEST_VALUE },
    idGenerator: {
      generateTraceId: () => next.traceId ?? random.generateTraceId(),
      generateSpanId: () => next.spanId ?? random.generateSpanId(),
    },
  });
  const tracer = provider.getTracer('po-sync', self.version);
  const contextOf = (ids: SpanIds) => ({ ...ids, traceFlags: api.TraceFlags.SAMPLED });
  const under = (parent: SpanIds) => api.trace.setSpanContext(api.ROOT_CONTEXT, contextOf(parent));

  function record({
    name,
    isRequest,
    from,
    to,
    ids,
    parent,
    attributes,
    error,
    link,
  }: EndedSpan): SpanIds {
    next = ids ?? {};
    const span = tracer.startSpan(
      name,
      {
        kind: isRequest ? api.SpanKind.CLIENT : api.SpanKind.INTERNAL,
        // A number below the start of this process would be read as a time since then.
        startTime: new Date(Math.min(from, to)),
        attributes,
        ...(link && { links: [{ context: contextOf(link) }] }),
      },
      parent === undefined ? api.ROOT_CONTEXT : under(parent),
    );
    next = {};
    if (error !== undefined) span.setStatus({ code: api.SpanStatusCode.ERROR, message: error });
    span.end(new Date(to));
    const { traceId, spanId } = span.spanContext();
    return { traceId, spanId };
  }

  return {
    isSampled: (traceId) =>
      sampler.shouldSample(api.ROOT_CONTEXT, traceId).decision !== sdk.SamplingDecision.NOT_RECORD,
    record,
    newSpanId: () => random.generateSpanId(),
    counts: () => queue.counts(),
  };
}

/** What the operator sets takes precedence. */
function resourceOf(
  { environment }: Config,
  { pid, version }: TracingDeps['self'],
  { resource }: TracingSettings,
) {
  return {
    'service.name': 'po-sync',
    'service.version': version,
    'service.instance.id': randomUUID(),
    'deployment.environment.name': environment,
    'host.name': hostname(),
    'process.pid': pid,
    ...resource,
  };
}
