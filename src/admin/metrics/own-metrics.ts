import { STATUS_CODES } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Registry } from 'prom-client';
import type { Meter } from '../../log/meter.ts';
import type { Tracer } from '../../log/tracer.ts';

/** They end with `_total` although they are gauges, which Prometheus' own check refuses. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Seconds. */
const REQUEST = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const ORDER = [1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400];
const ROUND_TRIP = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];

type OwnDeps = {
  registry: Registry;
  version: string;
  /** The source of a batch; undefined when it is no longer known. Rejects while Redis is not reachable. */
  sourceOf: (batch: string) => Promise<string | undefined>;
};

/** What this process counted since its start. Values of several daemons add up. */
export function createOwnMetrics({ registry, version, sourceOf }: OwnDeps) {
  gauge(registry, 'build_info', 'Version of po-sync; always 1.', ['version']).set({ version }, 1);
  return {
    meter: createMeter(registry, createSourceNames(sourceOf)),
    redis: createRedisMetrics(registry),
  };
}

/** What became of spans; without tracing the metric has no series. */
export function countSpans(registry: Registry, tracer: Pick<Tracer, 'counts'> | undefined): void {
  const spans = counter(registry, 'trace_spans_total', 'Spans by result.', ['result']);
  if (tracer === undefined) return;
  Object.assign(spans, {
    collect() {
      spans.reset();
      for (const [result, count] of Object.entries(tracer.counts())) spans.inc({ result }, count);
    },
  });
}

/** The process: CPU, memory, files, garbage collection, the delay of the event loop. Measures from now on. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
}

function createMeter(registry: Registry, source: SourceNames): Meter {
  const attempts = counter(registry, 'delivery_attempts_total', 'Attempts to create an order.', [
    'result',
  ]);
  const tokens = counter(registry, 'token_requests_total', 'Requests for a token.', ['result']);
  const lists = counter(registry, 'list_reads_total', "Reads of the API's list.", ['result']);
  const pauses = counter(registry, 'pauses_total', 'Pauses of delivery seen by this daemon.', [
    'code',
  ]);
  const files = counter(registry, 'files_total', 'Files by step.', ['source', 'result']);
  const settled = counter(registry, 'orders_settled_total', 'Outcomes of orders.', [
    'source',
    'outcome',
  ]);
  const notices = counter(registry, 'notices_total', 'Attempts to send a notice.', [
    'channel',
    'result',
  ]);
  const requests = histogram(
    registry,
    'api_request_duration_seconds',
    'From the first byte of a request to the last byte of its answer.',
    ['operation', 'status'],
    REQUEST,
  );
  const orders = histogram(
    registry,
    'order_duration_seconds',
    'From the claim of a file to the acceptance of an order.',
    ['source'],
    ORDER,
  );
  return {
    attempt: (result) => attempts.inc({ result }),
    request: (operation, status, ms) =>
      requests.observe({ operation, status: statusLabel(status) }, ms / 1_000),
    token: (result) => tokens.inc({ result }),
    list: (result) => lists.inc({ result }),
    pause: (code) => pauses.inc({ code }),
    file: (name, result) => files.inc({ source: name, result }),
    settled: (batch, outcome, count, ms) =>
      source(batch, (name) => {
        settled.inc({ source: name, outcome }, count);
        if (ms !== undefined) orders.observe({ source: name }, Math.max(0, ms) / 1_000);
      }),
    notice: (receiver, result) => notices.inc({ channel: receiver.split(' ', 1)[0] ?? '', result }),
  };
}

function createRedisMetrics(registry: Registry) {
  const up = gauge(registry, 'redis_up', 'Whether Redis answered this scrape: 1 or 0.', []);
  const roundTrip = histogram(
    registry,
    'redis_round_trip_seconds',
    'A PING at a scrape.',
    [],
    ROUND_TRIP,
  );
  return {
    up: (isUp: boolean) => up.set(isUp ? 1 : 0),
    roundTrip: (ms: number) => roundTrip.observe(ms / 1_000),
  };
}

/** The name of a metric without its prefix, its help and labels. */
type Definition = [registry: Registry, name: string, help: string, labelNames: string[]];

function counter(...[registry, name, help, labelNames]: Definition) {
  return new Counter({ name: `po_sync_${name}`, help, labelNames, registers: [registry] });
}

export function gauge(...[registry, name, help, labelNames]: Definition) {
  return new Gauge({ name: `po_sync_${name}`, help, labelNames, registers: [registry] });
}

/** Without a value the series is absent. `ms` since 1970. */
export function setOrRemove(metric: ReturnType<typeof gauge>, ms: number | undefined): void {
  if (ms === undefined) metric.remove();
  else metric.set(ms / 1_000);
}

/** What is counted in many keys. `oldestDeadLetter`: when the file of the oldest dead letter was claimed. */
export type Counted = {
  inDoubtForPerson: number;
  oldestDeadLetter: number | undefined;
};

/** The gauges of what is counted; absent while it could not be counted in time. */
export function createCountedGauges(registry: Registry): (counted: Counted | undefined) => void {
  const of = (name: string, help: string) => gauge(registry, name, help, []);
  const inDoubt = of(
    'dead_letter_orders_in_doubt',
    'Orders in doubt with open dead letters: a person must settle them.',
  );
  const oldest = of(
    'oldest_dead_letter_timestamp_seconds',
    'Claim time of the file of the oldest dead letter.',
  );

  return (counted) => {
    setOrRemove(oldest, counted?.oldestDeadLetter);
    if (counted === undefined) inDoubt.remove();
    else inDoubt.set(counted.inDoubtForPerson);
  };
}

function histogram(
  ...[registry, name, help, labelNames, buckets]: [...Definition, buckets: number[]]
) {
  return new Histogram({
    name: `po_sync_${name}`,
    help,
    labelNames,
    buckets,
    registers: [registry],
  });
}

/** An API may answer with any number; only known ones become a label. */
function statusLabel(status: number | undefined): string {
  if (status === undefined) return 'none';
  return STATUS_CODES[status] === undefined ? 'other' : String(status);
}

/** Calls `then` with the source of a batch: at once, when it is known here. */
type SourceNames = (batch: string, then: (source: string) => void) => void;

/** Batches whose source is remembered. */
const REMEMBERED = 1_000;

function createSourceNames(sourceOf: OwnDeps['sourceOf']): SourceNames {
  const known = new Map<string, string | Promise<string>>();

  async function find(batch: string): Promise<string> {
    const source = await sourceOf(batch).catch(() => undefined);
    if (source === undefined) known.delete(batch);
    else known.set(batch, source);
    return source ?? 'unknown';
  }

  return (batch, then) => {
    const source = known.get(batch) ?? find(batch);
    if (typeof source === 'string') return then(source);
    known.set(batch, source);
    const [oldest] = known.keys();
    if (known.size > REMEMBERED && oldest !== undefined) known.delete(oldest);
    void source.then(then);
  };
}
