import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
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
  const { code, out, err } = await place.spawn(['start', '--once'], env).ended;
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
  // The exporter reads its variables from the process.
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const opened = await openTracing({ config, env, clock: systemClock, log, self });
  vi.unstubAllEnvs();
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
  it('are sent with gzip, headers and attributes of the operator, as the variables say', async () => {
    await using collector = await openCollector();
    const { code, event } = await deliver(1, {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/custom`,
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=k%20ey',
      OTEL_RESOURCE_ATTRIBUTES: 'team=orders,service.name=other',
      OTEL_SERVICE_NAME: 'shop',
    });
    expect(code).toBe(0);
    expect(collector.requests[0]).toMatchObject({
      path: '/custom',
      headers: { 'x-key': 'k ey', 'content-encoding': 'gzip' },
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
    expect(event('spans-lost')[0]?.lost).toBeGreaterThan(100);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['hangs', () => undefined],
    [
      'answers without an end',
      (response) => {
        response.writeHead(200);
        const timer = setInterval(() => response.write('x'), 10);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ])('%s keeps neither memory nor the end of the process', async (_, answer) => {
    await using collector = await openCollector(answer);
    const env = {
      ...small,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      // Longer than a test may take: only the bound of the shutdown ends it.
      OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
      OTEL_BSP_EXPORT_TIMEOUT: '600000',
    };
    const { code, event } = await deliver(60, env);
    expect(code).toBe(0);
    expect(event('spans-lost')[0]?.lost).toBeGreaterThan(100);
  });

  it('refuses spans is not asked again with the same', async () => {
    await using collector = await openCollector((response) => response.writeHead(400).end());
    const { counts, reasons } = await record(5, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    expect(collector.requests).toHaveLength(1);
    expect(counts).toEqual({ recorded: 5, exported: 0, failed: 5 });
    expect(reasons).toEqual(['the collector did not take spans: Bad Request']);
  });

  it('is busy gets the same spans again', async () => {
    await using collector = await openCollector((response) => {
      response.writeHead(collector.requests.length === 1 ? 503 : 200).end();
    });
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' };
    const { counts } = await record(1, env, () =>
      until('the second request', () => collector.requests.length === 2),
    );
    expect(counts).toEqual({ recorded: 1, exported: 1, failed: 0 });
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
  ])('stop the start with %s=%s', (name, value, code) => {
    const error = (() => {
      try {
        return settingsOf({ [name]: value });
      } catch (thrown) {
        return thrown as PoSyncError;
      }
    })();
    expect(error).toMatchObject({ code, remedy: expect.any(String) });
  });

  it('that cannot be used give a warning', () => {
    const env = { OTEL_TRACES_SAMPLER: 'xray', OTEL_BSP_MAX_QUEUE_SIZE: '-1' };
    expect(settingsOf(env)?.warnings).toEqual([
      'OTEL_BSP_MAX_QUEUE_SIZE must be a number from 1 to 1000000; the default is used',
      'OTEL_TRACES_SAMPLER names a sampler that po-sync does not have; every trace is recorded',
    ]);
  });

  it('win over the configuration', () => {
    const tracing = { enabled: true, traceparent: false, endpoint: 'http://file:4318' };
    expect(tracingSettings({ tracing }, {})?.url).toBe('http://file:4318/v1/traces');
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://variable:4318' };
    expect(tracingSettings({ tracing }, env)?.url).toBeUndefined();
  });
});
