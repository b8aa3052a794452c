import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Config } from '../../../src/config/config.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { PoSyncError } from '../../../src/core/errors.ts';
import type { Tracer } from '../../../src/log/tracer.ts';
import { openTracing } from '../../../src/log/tracing/open-tracing.ts';
import { tracingSettings } from '../../../src/log/tracing/settings.ts';
import { capturedLog } from '../../support/captured-log.ts';
import { freePort } from '../../support/free-port.ts';
import { openCollector } from '../../support/otlp-collector.ts';
import { until } from '../../support/until.ts';
import { csvOf, openWorkplace } from '../../support/workplace.ts';

/** Runs a file of `orders` orders through po-sync with these variables of OpenTelemetry. */
async function deliver(
  orders: number,
  env: Record<string, string>,
  { more = '', faults = [] as object[] } = {},
) {
  const tracing = more === '' ? 'tracing: { enabled: true }\n' : more;
  await using place = await openWorkplace({
    more: tracing,
    faults: { faults },
    sandbox: { record: true },
  });
  await place.drop('orders.csv', csvOf(orders));
  const { code, out, err } = await place.run(['start', '--once'], env);
  const lines = `${out}${err}`
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  const exchanges = await (await fetch(`${place.api.authUrl}/rehearsal`)).text();
  return {
    code,
    err,
    stored: place.stored().size,
    exchanges,
    event: (name: string) => lines.filter((one) => one.event === name),
  };
}

/** Records spans without a daemon, and waits for `before` before the end. */
async function record(
  spans: number,
  env: Record<string, string>,
  before?: (tracer: Tracer) => Promise<unknown>,
) {
  const { log, lines } = capturedLog();
  const environments = {
    staging: {
      protected: false,
      baseUrl: 'http://api',
      authUrl: 'http://auth',
      token: { path: 'auto', clientAuth: 'form' },
    },
  };
  const tracing = { enabled: true, traceparent: false };
  const config = { environment: 'staging', environments, tracing } as unknown as Config;
  const self = { pid: 1, version: '0.0.0' };
  const opened = await openTracing({
    config,
    env,
    clock: systemClock,
    log,
    self,
    hide: () => undefined,
  });
  if (opened === undefined) throw new Error('tracing is off');
  for (let i = 0; i < spans; i += 1)
    opened.tracer.inspected({ batch: `b${i}`, records: i, bytes: 1 });
  await before?.(opened.tracer);
  await opened[Symbol.asyncDispose]();
  const reasons = lines
    .filter(({ event }) => event === 'tracing-trouble')
    .map(({ reason }) => reason);
  return { counts: opened.tracer.counts(), reasons };
}

it('a fault of tracing is logged and never thrown', async () => {
  await using collector = await openCollector();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const { reasons } = await record(1, env, async (tracer) => {
    expect(tracer.attempt({} as never, 0)).toBeUndefined();
    const order = {
      batch: 'b',
      order: { purchaseOrderNumber: 'PO' },
      place: { line: 1 },
      version: 0,
      state: '',
      attempt: 0,
    };
    tracer.attempt(order, 0)?.ended(undefined as never);
  });
  expect(reasons).toHaveLength(2);
});

describe('spans', () => {
  it('are sent in JSON with gzip, headers and attributes of the operator, as the variables say', async () => {
    await using collector = await openCollector();
    const { code, event } = await deliver(1, {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/custom`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=k%20ey',
      OTEL_RESOURCE_ATTRIBUTES: 'team=orders,service.name=other',
      OTEL_SERVICE_NAME: 'shop',
    });
    expect(code).toBe(0);
    expect(collector.requests[0]).toMatchObject({
      path: '/custom',
      headers: { 'x-key': 'k ey', 'content-encoding': 'gzip', 'content-type': 'application/json' },
    });
    const order = collector.spans().find(({ name }) => name === 'order');
    expect(order).toMatchObject({
      attributes: { 'po_sync.order': 'PO-1', 'po_sync.outcome': 'accepted', 'po_sync.attempts': 1 },
      resource: {
        'service.name': 'shop',
        team: 'orders',
        'deployment.environment.name': 'staging',
      },
    });
    expect(event('tracing-started')).toMatchObject([{ share: 1 }]);
    expect(event('spans-lost')).toEqual([]);
  });

  it('of orders that need a person are errors with a code', async () => {
    await using collector = await openCollector();
    const { code } = await deliver(
      2,
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
      { faults: [{ kind: 'answer', status: 400, message: 'no such article', orders: ['PO-2'] }] },
    );
    expect(code).toBe(2);
    const spans = collector.spans();
    const refused = spans.filter(({ name, status }) => name === 'order' && status.code === 2);
    expect(refused).toMatchObject([
      { attributes: { 'po_sync.order': 'PO-2', 'po_sync.outcome': 'refused' } },
    ]);
    expect(
      spans
        .filter(({ name }) => name === 'attempt')
        .map(({ status }) => status.message)
        .sort(),
    ).toEqual(['', '400']);
    expect(collector.requests.filter(({ body }) => body.includes('no such article'))).toEqual([]);
  });

  it('are recorded for a share of the traces, the same share in every process', async () => {
    await using collector = await openCollector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const sampler = {
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.5',
    };
    await deliver(40, { ...env, ...sampler });
    const orders = collector.spans().filter(({ name }) => name === 'order').length;
    expect(orders).toBeGreaterThan(0);
    expect(orders).toBeLessThan(40);
    const traces = new Set(
      collector
        .spans()
        .filter(({ name }) => name === 'attempt')
        .map(({ traceId }) => traceId),
    );
    expect(traces.size).toBe(orders);
  });
});

describe('the header traceparent', () => {
  it('names the span of the request if the configuration asks for it', async () => {
    await using collector = await openCollector();
    const more = `tracing: { enabled: true, traceparent: true, endpoint: '${collector.url}' }\n`;
    const { exchanges } = await deliver(1, {}, { more });
    const [, traceId, spanId] =
      /traceparent[^0]*00-([0-9a-f]{32})-([0-9a-f]{16})-01/.exec(exchanges) ?? [];
    const request = collector.spans().find((span) => span.spanId === spanId);
    expect(request).toMatchObject({ traceId, name: 'POST /api/v1/purchase-orders', kind: 3 });
  });

  it('says that the trace is not recorded if it is not sampled', async () => {
    await using collector = await openCollector();
    const more = `tracing: { enabled: true, traceparent: true, endpoint: '${collector.url}' }\n`;
    const { exchanges } = await deliver(1, { OTEL_TRACES_SAMPLER: 'always_off' }, { more });
    expect(exchanges).toMatch(/traceparent[^0]*00-[0-9a-f]{32}-[0-9a-f]{16}-00/);
    expect(collector.spans().filter(({ name }) => name === 'order')).toEqual([]);
  });
});

describe('a collector that', () => {
  const small = { OTEL_BSP_MAX_QUEUE_SIZE: '20', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10' };

  it('is down loses spans, not orders', async () => {
    const port = await freePort();
    const { code, stored, event } = await deliver(60, {
      ...small,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    });
    expect({ code, stored }).toEqual({ code: 0, stored: 60 });
    expect(event('tracing-trouble')[0]?.reason).toBe('the collector was not reached: ECONNREFUSED');
    expect(event('spans-lost')[0]?.dropped).toBeGreaterThan(100);
  });

  it('hangs keeps neither memory nor the end of the process', async () => {
    await using collector = await openCollector(() => undefined);
    const env = {
      ...small,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_TIMEOUT: '100',
    };
    const { counts, reasons } = await record(1_000, env);
    expect(counts.dropped).toBeGreaterThanOrEqual(970);
    expect(counts.dropped + counts.failed).toBe(1_000);
    expect(reasons[0]).toBe('the collector was not reached: no answer within 100 ms');
  });

  it('answers without an end keeps neither memory nor the end of the process', async () => {
    const drip = (response: ServerResponse) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 10);
      response.on('close', () => clearInterval(timer));
    };
    await using collector = await openCollector(drip);
    const env = { ...small, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const { counts } = await record(1_000, env);
    expect(counts).toMatchObject({ exported: 0 });
    expect(counts.dropped + counts.failed).toBe(1_000);
  });

  it('refuses spans is not asked again with the same', async () => {
    await using collector = await openCollector((response) => response.writeHead(400).end());
    const { counts, reasons } = await record(5, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    expect(collector.requests).toHaveLength(1);
    expect(counts).toEqual({ exported: 0, failed: 5, dropped: 0 });
    expect(reasons).toEqual(['the collector answered with status 400']);
  });

  it('is busy gets the same spans again', async () => {
    await using collector = await openCollector((response) => {
      response.writeHead(collector.requests.length === 1 ? 503 : 200).end();
    });
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' };
    const { counts } = await record(1, env, () =>
      until('the second request', () => collector.requests.length === 2),
    );
    expect(counts).toEqual({ exported: 1, failed: 0, dropped: 0 });
  });

  it('rejects some of the spans is reported', async () => {
    const body = JSON.stringify({
      partialSuccess: { rejectedSpans: '2', errorMessage: 'too many' },
    });
    await using collector = await openCollector((response) => response.end(body));
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    };
    expect((await record(5, env)).counts).toEqual({ exported: 3, failed: 2, dropped: 0 });
  });
});

describe('the variables of OpenTelemetry', () => {
  const settingsOf = (env: Record<string, string>) =>
    tracingSettings({ tracing: { enabled: true, traceparent: false } }, env);

  it.each([{ OTEL_SDK_DISABLED: 'TRUE' }, { OTEL_TRACES_EXPORTER: 'none' }])(
    '%o turn tracing off',
    (env) => {
      expect(settingsOf(env)).toBeUndefined();
    },
  );

  it('cannot turn it on', () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel:4318' };
    expect(
      tracingSettings({ tracing: { enabled: false, traceparent: false } }, env),
    ).toBeUndefined();
  });

  it.each([
    ['OTEL_TRACES_EXPORTER', 'zipkin', 'tracing-unsupported'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'tracing-unsupported'],
    ['OTEL_EXPORTER_OTLP_TRACES_COMPRESSION', 'br', 'tracing-unsupported'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317', 'tracing-invalid'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:secret@collector:4318', 'tracing-invalid'],
    ['OTEL_EXPORTER_OTLP_CERTIFICATE', '/none/ca.pem', 'tls-file-unreadable'],
  ])('stop the start with %s=%s, without showing it', (name, value, code) => {
    const error = (() => {
      try {
        return settingsOf({ [name]: value });
      } catch (thrown) {
        return thrown as PoSyncError;
      }
    })();
    expect(error).toMatchObject({ code, remedy: expect.any(String) });
    expect(JSON.stringify([error, (error as PoSyncError).message])).not.toContain('secret');
  });

  it('that cannot be used give a warning that does not show them', () => {
    const env = {
      OTEL_TRACES_SAMPLER: 'xray',
      OTEL_BSP_MAX_QUEUE_SIZE: '-1',
      OTEL_EXPORTER_OTLP_HEADERS: 'x=secret%zz',
    };
    expect(settingsOf(env)?.warnings).toEqual([
      'OTEL_BSP_MAX_QUEUE_SIZE must be a number from 1 to 1000000; 2048 is used',
      'OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs with commas; others are left out',
      'OTEL_TRACES_SAMPLER names a sampler that po-sync does not have; every trace is recorded',
    ]);
  });

  it('win over the configuration', () => {
    const tracing = { enabled: true, traceparent: false, endpoint: 'http://file:4318' };
    expect(tracingSettings({ tracing }, {})?.url.href).toBe('http://file:4318/v1/traces');
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://variable:4318/otlp/' };
    expect(tracingSettings({ tracing }, env)?.url.href).toBe('http://variable:4318/otlp/v1/traces');
  });
});
