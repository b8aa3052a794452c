import { createHash, randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { hostname } from 'node:os';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { codeOf, toError } from '../core/errors.ts';
import { claimTimeOf } from '../order/batch.ts';
import { needsPerson, type Outcome } from '../order/outcome.ts';
import { escapeHidden } from '../order/text.ts';
import { tracingTrouble } from './events/daemon.ts';
import type { Log } from './log.ts';
import type { TracedOrder, Tracer } from './tracer.ts';

type TracingDeps = {
  config: Pick<Config, 'environment' | 'tracing'>;
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
 * Opens tracing if the configuration asks for it. Only then the packages of OpenTelemetry are loaded. The exporter reads
 * its standard variables itself.
 */
export async function openTracing(deps: TracingDeps): Promise<Tracing | undefined> {
  const { config, log, clock } = deps;
  if (!config.tracing.enabled) return undefined;
  const onTrouble = (reason: string) => tracingTrouble(log, { reason });
  const { record, provider } = createRecorder(await loadPackages(), onTrouble, deps);
  return {
    tracer: guarded(createTracer(record, deps), (error) => onTrouble(toError(error).message)),
    async [Symbol.asyncDispose]() {
      const done = new AbortController();
      // It rejects when the last spans fail, which was reported.
      const shutdown = provider.shutdown().catch(() => undefined);
      void shutdown.finally(() => done.abort());
      await clock.sleep(LAST, done.signal);
    },
  };
}

/** The same functions, which never throw: a fault of tracing must not end an attempt whose request was sent. */
function guarded(tracer: Tracer, onError: (error: unknown) => void): Tracer {
  const safe = <Given extends unknown[]>(work: (...given: Given) => void) => {
    return (...given: Given) => {
      try {
        work(...given);
      } catch (error) {
        onError(error);
      }
    };
  };
  return {
    attempt: safe(tracer.attempt),
    settled: safe(tracer.settled),
    finished: safe(tracer.finished),
  };
}

/** The two identifiers of a span, in hexadecimal. */
type SpanIds = { traceId: string; spanId: string };

/** A span that has ended. Times are milliseconds since 1970 by the clock of this machine. */
type EndedSpan = {
  name: string;
  /** A request to another server. */
  isRequest?: true;
  from: number;
  to: number;
  /** Its identifiers; absent: new ones, in the trace of its parent. */
  ids?: SpanIds;
  parent?: SpanIds;
  attributes: Record<string, string | number | undefined>;
  /** What went wrong, as a word of a small set. */
  error?: string | undefined;
  link?: SpanIds;
};

const LONGEST_NUMBER = 256;

/**
 * Turns the events of orders and files into spans. The identifiers of a trace follow from environment, batch, order number
 * and line, so every process continues the trace and nothing is stored.
 */
function createTracer(
  record: (span: EndedSpan) => void,
  { clock, config: { environment } }: TracingDeps,
): Tracer {
  const rootOf = ({ batch, order, place }: TracedOrder) =>
    deriveIds(environment, batch, order.purchaseOrderNumber, String(place.line));
  const times = (batch: string) => {
    const to = clock.now();
    return { from: claimTimeOf(batch) ?? to, to };
  };
  return {
    attempt(order, { attempt, durationMs, outcome, code }) {
      const to = clock.now();
      const attributes = { 'po_sync.attempt': attempt, 'po_sync.attempt.outcome': outcome };
      const error = outcome === 'accepted' ? undefined : wordOf(code ?? outcome);
      const span = { name: 'attempt', isRequest: true, from: to - durationMs, to } as const;
      record({ ...span, parent: rootOf(order), attributes, error });
    },
    settled(order, outcome, code) {
      const { batch, place } = order;
      record({
        name: 'order',
        ids: rootOf(order),
        ...times(batch),
        attributes: {
          'po_sync.batch': batch,
          'po_sync.order': escapeHidden(order.order.purchaseOrderNumber.slice(0, LONGEST_NUMBER)),
          'po_sync.line': place.line,
          'po_sync.outcome': outcome,
        },
        error: needsPerson(outcome as Outcome) ? wordOf(code ?? outcome) : undefined,
        link: deriveIds(environment, batch),
      });
    },
    finished({ batch, source, file, orders, accepted, needPerson }) {
      record({
        name: 'file',
        ids: deriveIds(environment, batch),
        ...times(batch),
        attributes: {
          'po_sync.batch': batch,
          'po_sync.source': source,
          'po_sync.file': escapeHidden(file),
          'po_sync.orders': orders,
          'po_sync.accepted': accepted,
          'po_sync.need_person': needPerson,
        },
      });
    },
  };
}

/** The identifiers of the root span that these names have in every process. */
function deriveIds(...names: readonly string[]): SpanIds {
  const digest = createHash('sha256')
    .update(['po-sync', ...names].join('\n'))
    .digest('hex');
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) };
}

/** A code as an attribute. The API chooses some of them, so any other text becomes one word. */
function wordOf(code: string): string {
  const isKnown = /^\d+$/.test(code)
    ? STATUS_CODES[code] !== undefined
    : /^[\w.-]{1,64}$/.test(code);
  return isKnown ? code : 'other';
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

/** The same exporter, which reports why the collector did not take spans. */
function reporting(exporter: SpanExporter, onTrouble: (reason: string) => void): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        // Without the answer of the collector, which may repeat what was sent.
        if (result.error)
          onTrouble(
            `the collector did not take spans: ${codeOf(result.error) ?? result.error.message}`,
          );
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

/** The longest text of an attribute. */
const LONGEST_VALUE = 512;

/** Records spans with the SDK; its own provider, so that no other library of the process is traced by accident. */
function createRecorder(
  { api, exporter, resources, sdk }: Packages,
  onTrouble: (reason: string) => void,
  { config, self }: TracingDeps,
) {
  const random = new sdk.RandomIdGenerator();
  /** The identifiers of the next span, when they are given. */
  let next: Partial<SpanIds> = {};
  const otlp = reporting(new exporter.OTLPTraceExporter(), onTrouble);
  const provider = new sdk.TracerProvider({
    // What the operator sets takes precedence.
    resource: resources
      .resourceFromAttributes(resourceOf(config.environment, self))
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: otlp })],
    spanLimits: { attributeValueLengthLimit: LONGEST_VALUE },
    idGenerator: {
      generateTraceId: () => next.traceId ?? random.generateTraceId(),
      generateSpanId: () => next.spanId ?? random.generateSpanId(),
    },
  });
  const tracer = provider.getTracer('po-sync', self.version);
  const contextOf = (ids: SpanIds) => ({ ...ids, traceFlags: api.TraceFlags.SAMPLED });

  function record({ name, isRequest, from, to, ids, parent, attributes, error, link }: EndedSpan) {
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
      parent ? api.trace.setSpanContext(api.ROOT_CONTEXT, contextOf(parent)) : api.ROOT_CONTEXT,
    );
    next = {};
    if (error !== undefined) span.setStatus({ code: api.SpanStatusCode.ERROR, message: error });
    span.end(new Date(to));
  }

  return { record, provider };
}

function resourceOf(environment: string, { pid, version }: TracingDeps['self']) {
  return {
    'service.name': 'po-sync',
    'service.version': version,
    'service.instance.id': randomUUID(),
    'deployment.environment.name': environment,
    'host.name': hostname(),
    'process.pid': pid,
  };
}
