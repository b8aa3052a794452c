import { z } from 'zod';
import { address } from './fields.ts';

/** `tracing` of the configuration file. */
export const tracingSchema = z
  .strictObject({
    enabled: z.boolean().prefault(false).describe('Sends spans to a collector. Requires the optional packages.'),
    endpoint: address
      .exactOptional()
      .describe(
        'The collector, without /v1/traces. Default: http://localhost:4318; OTEL_EXPORTER_OTLP_ENDPOINT takes precedence.',
      ),
    traceparent: z.boolean().prefault(false).describe('Sends the header traceparent to the API with each order.'),
  })
  .prefault({})
  .describe('OpenTelemetry, one trace per order.');
