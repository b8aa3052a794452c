import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { type Config, environmentOf } from '../../config/config.ts';
import type { Variables } from '../../config/variables.ts';
import type { Clock } from '../../core/clock.ts';
import { codeOf, toError } from '../../core/errors.ts';
import { ORDERS_PATH } from '../../order/order.ts';
import { configWarning, spansLost, tracingStarted, tracingTrouble } from '../events/daemon.ts';
import type { Log } from '../log.ts';
import type { SpanCounts, Tracer } from '../tracer.ts';
import { createOrderSpans } from './order-spans.ts';
import { type TracingSettings, tracingSettings } from './settings.ts';
import type { EndedSpan, Recorder, SpanIds } from './span.ts';

type TracingDeps = {
  config: Config;
  /** Those of the process: the exporter reads its own there. */
  env: Variables;
  clock: Clock;
  log: Log;
  /** The program itself. */
  self: { pid: number; version: string };
};

/** Tracing that is on; disposing sends the spans that wait, for a short time. */
export type Tracing = AsyncDisposable & { tracer: Tracer };

/** Milliseconds that the last spans have when the process stops. */
const LAST = 2_000;

/**
 * Opens tracing if the configuration asks for it. Only then the packages of OpenTelemetry are loaded. Throws PoSyncError
 * `tracing-unsupported`.
 */
export async function openTracing(deps: TracingDeps): Promise<Tracing | undefined> {
  const { config, env, log, clock } = deps;
  const settings = tracingSettings(config, env);
  if (settings === undefined) return undefined;
  for (const warning of settings.warnings) configWarning(log, warning);
  const onTrouble = (reason: string) => tracingTrouble(log, { reason });
  const { recorder, provider } = createRecorder(await loadPackages(), settings, onTrouble, deps);
  tracingStarted(log, { share: settings.share });
  const url = new URL(`${environmentOf(config).baseUrl}${ORDERS_PATH}`);
  const { environment, tracing } = config;
  return {
    tracer: guarded(
      createOrderSpans({ recorder, clock, environment, url, traceparent: tracing.traceparent }),
      (error) => onTrouble(toError(error).message),
    ),
    async [Symbol.asyncDispose]() {
      const done = new AbortController();
      // It rejects when the last spans fail, which is counted.
      const shutdown = provider.shutdown().catch(() => undefined);
      void shutdown.finally(() => done.abort());
      await clock.sleep(LAST, done.signal);
      const { recorded, exported } = recorder.counts();
      if (recorded > exported) spansLost(log, { lost: recorded - exported });
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

async function loadPackages() {
  const [api, exporter, resources, sdk] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace'),
  ]);
  return { api, exporter, resources, sdk };
}

type Packages = Awaited<ReturnType<typeof loadPackages>>;

/** The same exporter, which counts what becomes of spans and reports why the collector did not take them. */
function counted(
  exporter: SpanExporter,
  counts: SpanCounts,
  onTrouble: (reason: string) => void,
): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        counts[result.error === undefined ? 'exported' : 'failed'] += spans.length;
        if (result.error) onTrouble(reasonOf(result.error));
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

/** Without the answer of the collector, which may repeat what was sent. */
function reasonOf(error: Error): string {
  const code = codeOf(error);
  return `the collector did not take spans: ${code === undefined ? error.message : code}`;
}

/** The longest text of an attribute. */
const LONGEST_VALUE = 512;

/** Records spans with the SDK; its own provider, so that no other library of the process is traced by accident. */
function createRecorder(
  { api, exporter, resources, sdk }: Packages,
  { url, share, queue }: TracingSettings,
  onTrouble: (reason: string) => void,
  { config, self }: TracingDeps,
) {
  const counts: SpanCounts = { recorded: 0, exported: 0, failed: 0 };
  const random = new sdk.RandomIdGenerator();
  /** The identifiers of the next span, when they are given. */
  let next: Partial<SpanIds> = {};
  const sampler = new sdk.TraceIdRatioBasedSampler(share);
  const otlp = new exporter.OTLPTraceExporter(url === undefined ? {} : { url });
  const provider = new sdk.TracerProvider({
    // What the operator sets takes precedence.
    resource: resources
      .resourceFromAttributes(resourceOf(config, self))
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [
      new sdk.BatchSpanProcessor({ exporter: counted(otlp, counts, onTrouble), ...queue }),
    ],
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
    counts.recorded += 1;
    const { traceId, spanId } = span.spanContext();
    return { traceId, spanId };
  }

  const recorder: Recorder = {
    isSampled: (traceId) =>
      sampler.shouldSample(api.ROOT_CONTEXT, traceId).decision !== sdk.SamplingDecision.NOT_RECORD,
    record,
    newSpanId: () => random.generateSpanId(),
    counts: () => ({ ...counts }),
  };
  return { recorder, provider };
}

function resourceOf({ environment }: Config, { pid, version }: TracingDeps['self']) {
  return {
    'service.name': 'po-sync',
    'service.version': version,
    'service.instance.id': randomUUID(),
    'deployment.environment.name': environment,
    'host.name': hostname(),
    'process.pid': pid,
  };
}
