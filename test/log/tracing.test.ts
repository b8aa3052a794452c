import { expect, it, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { openTracing } from '../../src/log/open-tracing.ts';
import type { Tracer } from '../../src/log/tracer.ts';
import { capturedLog } from '../support/captured-log.ts';
import { openCollector } from '../support/otlp-collector.ts';
import { until } from '../support/until.ts';

const ORDER = { batch: 'b', order: { purchaseOrderNumber: 'PO-1' }, place: { line: 2 } };

/** Records what `work` reports to the tracer, and ends tracing. */
async function traced(env: Record<string, string>, work: (tracer: Tracer) => unknown) {
  const { log, lines } = capturedLog();
  const config = { environment: 'staging', tracing: { enabled: true } };
  const self = { pid: 1, version: '0.0.0' };
  // The exporter reads its variables from the process.
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const opened = await openTracing({ config, clock: systemClock, log, self });
  vi.unstubAllEnvs();
  if (opened === undefined) throw new Error('tracing is off');
  await work(opened.tracer);
  await opened[Symbol.asyncDispose]();
  const reasons = lines
    .filter(({ event }) => event === 'tracing-trouble')
    .map(({ reason }) => reason);
  return reasons;
}

const settle = (tracer: Tracer) => tracer.settled(ORDER, 'refused', '400');

it('an order and its file have spans that name them, with the attributes of the operator', async () => {
  await using collector = await openCollector();
  const env = {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/custom`,
    OTEL_RESOURCE_ATTRIBUTES: 'team=orders',
    OTEL_SERVICE_NAME: 'shop',
  };
  await traced(env, (tracer) => {
    tracer.attempt(ORDER, { attempt: 1, durationMs: 5, outcome: 'refused', code: 'no such word' });
    settle(tracer);
    const file = { batch: 'b', source: 'inbox', file: 'orders.csv' };
    tracer.finished({ ...file, orders: 1, accepted: 0, needPerson: 1 });
  });
  expect(collector.requests[0]).toMatchObject({ path: '/custom' });
  const [attempt, order, file] = collector.spans();
  expect(attempt).toMatchObject({
    name: 'attempt',
    traceId: order?.traceId,
    parentSpanId: order?.spanId,
    status: { code: 2, message: 'other' },
  });
  expect(order).toMatchObject({
    name: 'order',
    parentSpanId: '',
    status: { code: 2, message: '400' },
    attributes: { 'po_sync.order': 'PO-1', 'po_sync.outcome': 'refused' },
    links: [{ traceId: file?.traceId, spanId: file?.spanId }],
    resource: {
      'service.name': 'shop',
      team: 'orders',
      'deployment.environment.name': 'staging',
    },
  });
});

it('a fault of tracing is logged and never thrown', async () => {
  await using collector = await openCollector();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const reasons = await traced(env, (tracer) => tracer.settled({} as never, 'accepted'));
  expect(reasons).toHaveLength(1);
});

it('a collector that hangs does not keep the end of the process', async () => {
  await using collector = await openCollector(() => undefined);
  // Longer than a test may take: only the bound of the shutdown ends it.
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
    OTEL_BSP_EXPORT_TIMEOUT: '600000',
  };
  expect(await traced(env, settle)).toEqual([]);
});

it('a collector that refuses spans is not asked again with the same', async () => {
  await using collector = await openCollector((response) => response.writeHead(400).end());
  const reasons = await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, settle);
  expect(collector.requests).toHaveLength(1);
  expect(reasons).toEqual(['the collector did not take spans: Bad Request']);
});

it('a collector that is busy gets the same spans again', async () => {
  await using collector = await openCollector((response) => {
    response.writeHead(collector.requests.length === 1 ? 503 : 200).end();
  });
  const reasons = await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, async (tracer) => {
    settle(tracer);
    await until('the second request', () => collector.requests.length === 2);
  });
  expect(reasons).toEqual([]);
});
