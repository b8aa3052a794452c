import { expect, it } from 'vitest';
import { CLIENT_SECRET } from '../support/open-sandbox.ts';
import { openCollector } from '../support/otlp-collector.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

const ON = 'tracing: { enabled: true }\n';

it('an order has one trace from file to answer, over a retry, without its content', async () => {
  await using collector = await openCollector();
  await using place = await openWorkplace({
    faults: { faults: [{ kind: 'answer', status: 503, orders: ['PO-1'], attempts: '1' }] },
    more: ON,
  });
  await place.drop('orders.csv', csvOf(2));
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  expect(await place.spawn(['start', '--once'], env).ended).toMatchObject({ code: 0 });
  const spans = collector.spans();
  const root = spans.find(({ attributes }) => attributes['po_sync.order'] === 'PO-1');
  const trace = spans.filter(({ traceId }) => traceId === root?.traceId);
  expect(trace.map(({ name }) => name)).toEqual(['attempt', 'attempt', 'order']);
  expect(trace.map(({ attributes }) => attributes['po_sync.attempt.outcome'])).toEqual([
    'busy',
    'accepted',
    undefined,
  ]);
  for (const span of trace.slice(0, 2)) expect(span.parentSpanId).toBe(root?.spanId);
  for (const { start, end } of spans) expect(end).toBeGreaterThanOrEqual(start);
  const file = spans.find(({ name }) => name === 'file');
  expect(root?.links).toEqual([{ traceId: file?.traceId, spanId: file?.spanId }]);
  expect(file?.attributes).toMatchObject({ 'po_sync.orders': 2, 'po_sync.accepted': 2 });
  for (const secret of [CLIENT_SECRET, 'Bearer', 'ART-1'])
    expect(collector.requests.filter(({ body }) => body.includes(secret))).toEqual([]);
});
