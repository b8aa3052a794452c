import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { CLIENT_SECRET } from '../support/open-sandbox.ts';
import { openCollector, type ReceivedSpan } from '../support/otlp-collector.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

const ON = 'tracing: { enabled: true }\n';
const WATCH = `--import=${path.resolve(import.meta.dirname, '../support/watch-modules.program.ts')}`;

const named = (spans: readonly ReceivedSpan[], name: string) =>
  spans.filter((span) => span.name === name);
const POST = 'POST /api/v1/purchase-orders';

/** Each attribute that a span may have. */
const ATTRIBUTES = [
  'po_sync.accepted',
  'po_sync.attempt',
  'po_sync.attempt.outcome',
  'po_sync.attempts',
  'po_sync.batch',
  'po_sync.bytes',
  'po_sync.file',
  'po_sync.line',
  'po_sync.need_person',
  'po_sync.order',
  'po_sync.orders',
  'po_sync.outcome',
  'po_sync.records',
  'po_sync.source',
  'po_sync.verify.outcome',
  'po_sync.wait.after',
  'error.type',
  'http.request.method',
  'http.request.resend_count',
  'http.response.status_code',
  'server.address',
  'server.port',
  'url.template',
];

it('an order has one trace from file to answer, over a retry, a restart and a doubt', async () => {
  await using collector = await openCollector();
  await using place = await openWorkplace({
    sandbox: { record: true },
    faults: { faults: [{ kind: 'answer', status: 503, orders: ['PO-1'] }] },
    more: ON,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '20' },
  });
  const rootOf = (number: string) =>
    collector.spans().find(({ attributes }) => attributes['po_sync.order'] === number);
  const first = place.spawn(['start']);
  await place.drop('orders.csv', csvOf(2));
  await until('an attempt', () => named(collector.spans(), 'attempt').length > 0);
  await until('an answer 503', () =>
    collector.spans().some((span) => span.attributes['error.type'] === '503'),
  );
  first.child.kill('SIGTERM');
  expect(await first.ended).toMatchObject({ code: 0 });
  expect(rootOf('PO-1')).toBeUndefined();
  await place.setFaults([{ kind: 'drop', when: 'after', orders: ['PO-1'], attempts: '1' }]);

  const second = place.spawn(['start']);
  await until('both orders', () => rootOf('PO-1') && rootOf('PO-2'));
  await until('the file', () => named(collector.spans(), 'file').length === 1);
  second.child.kill('SIGTERM');
  expect(await second.ended).toMatchObject({ code: 0 });

  const [root, file] = [rootOf('PO-1'), named(collector.spans(), 'file')[0]];
  const trace = collector.spans().filter(({ traceId }) => traceId === root?.traceId);
  expect(new Set(trace.map(({ spanId }) => spanId)).size).toBe(trace.length);
  const services = new Set(trace.map(({ resource }) => resource['service.instance.id']));
  expect(services.size).toBe(2);
  expect(new Set(trace.map(({ name }) => name))).toEqual(
    new Set(['order', 'admit', 'queued', 'attempt', POST, 'verify']),
  );
  expect(root).toMatchObject({
    parentSpanId: '',
    attributes: { 'po_sync.outcome': 'accepted', 'po_sync.line': 2 },
  });
  const attempts = named(trace, 'attempt');
  const outcomes = attempts.map(({ attributes }) => attributes['po_sync.attempt.outcome']);
  expect(new Set(outcomes)).toEqual(new Set(['busy', 'unknown']));
  const requests = named(trace, POST);
  expect(requests).toHaveLength(attempts.length);
  expect(new Set(requests.map(({ attributes }) => attributes['error.type']))).toEqual(
    new Set(['503', 'no answer']),
  );
  for (const span of requests)
    expect(attempts.map(({ spanId }) => spanId)).toContain(span.parentSpanId);
  for (const span of trace.filter(({ name }) => name !== POST && name !== 'order')) {
    expect(span.parentSpanId, span.name).toBe(root?.spanId);
  }
  for (const { start, end } of trace) expect(end).toBeGreaterThanOrEqual(start);
  const lists = collector.spans().filter(({ name }) => name === 'GET /api/v1/purchase-orders');
  const read = named(trace, 'verify').flatMap(({ links }) => links.map(({ spanId }) => spanId));
  expect(lists.map(({ spanId }) => spanId)).toEqual(expect.arrayContaining(read));
  expect(read).toHaveLength(1);

  expect(root?.links).toEqual([{ traceId: file?.traceId, spanId: file?.spanId }]);
  expect(file?.attributes).toMatchObject({
    'po_sync.file': 'orders.csv',
    'po_sync.orders': 2,
    'po_sync.accepted': 2,
  });
  const steps = collector.spans().filter(({ traceId }) => traceId === file?.traceId);
  expect(new Set(steps.map(({ name }) => name))).toEqual(
    new Set(['file', 'inspect file', 'admit orders', 'write report']),
  );

  const keys = collector.spans().flatMap(({ attributes }) => Object.keys(attributes));
  expect(ATTRIBUTES).toEqual(expect.arrayContaining([...new Set(keys)]));
  const exchanges = await (await fetch(`${place.api.authUrl}/rehearsal`)).text();
  expect(exchanges).not.toContain('traceparent');
  for (const secret of [CLIENT_SECRET, 'Bearer', 'ART-1']) {
    expect(collector.requests.filter(({ body }) => body.includes(secret))).toEqual([]);
  }
});

it('tracing imports packages only when it is on', async () => {
  await using place = await openWorkplace();
  const file = path.join(place.folder, 'packages');
  const env = { NODE_OPTIONS: WATCH, LOADED_PACKAGES: file };
  expect(await place.spawn(['start', '--once'], env).ended).toMatchObject({ code: 0 });
  await expect(readFile(file)).rejects.toThrow('ENOENT');

  await using traced = await openWorkplace({ more: ON });
  expect(await traced.spawn(['start', '--once'], env).ended).toMatchObject({ code: 0 });
  expect(await readFile(file, 'utf8')).toContain('@opentelemetry/sdk-trace\n');
});
