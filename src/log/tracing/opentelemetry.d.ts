// The part of the packages that tracing uses, so that a checkout without them passes the type check too. The tests
// run it against the packages.

declare module '@opentelemetry/sdk-trace' {
  import type { Context, Tracer } from '@opentelemetry/api';

  /** A span that has ended; only the encoding looks into it. */
  export type ReadableSpan = { readonly name: string };
  export type SpanProcessor = {
    onStart(): void;
    onEnd(span: ReadableSpan): void;
    forceFlush(): Promise<void>;
    shutdown(): Promise<void>;
  };
  type IdGenerator = { generateTraceId(): string; generateSpanId(): string };
  export class RandomIdGenerator {
    generateTraceId(): string;
    generateSpanId(): string;
  }
  export enum SamplingDecision {
    NOT_RECORD = 0,
    RECORD = 1,
    RECORD_AND_SAMPLED = 2,
  }
  export class TraceIdRatioBasedSampler {
    constructor(ratio: number);
    shouldSample(context: Context, traceId: string): { decision: SamplingDecision };
  }
  export class TracerProvider {
    constructor(options: {
      resource: object;
      spanProcessors: SpanProcessor[];
      spanLimits: { attributeValueLengthLimit: number };
      idGenerator: IdGenerator;
    });
    getTracer(name: string, version: string): Tracer;
  }
}

declare module '@opentelemetry/resources' {
  export function resourceFromAttributes(attributes: Record<string, string | number>): object;
}

declare module '@opentelemetry/otlp-transformer' {
  import type { ReadableSpan } from '@opentelemetry/sdk-trace';

  type TraceSerializer = {
    serializeRequest(spans: ReadableSpan[]): Uint8Array | undefined;
    /** Throws for anything that is not an answer of OTLP. */
    deserializeResponse(body: Uint8Array): { partialSuccess?: { rejectedSpans?: number } };
  };
  export const JsonTraceSerializer: TraceSerializer;
  export const ProtobufTraceSerializer: TraceSerializer;
}
