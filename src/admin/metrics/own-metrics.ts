import { STATUS_CODES } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Registry } from 'prom-client';
import type { Meter } from '../../log/meter.ts';

/** Seconds. */
const REQUEST = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const ORDER = [1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400];

type OwnDeps = {
  registry: Registry;
  version: string;
  /** The source of a batch; undefined when it is no longer known. Rejects while Redis is not reachable. */
  sourceOf: (batch: string) => Promise<string | undefined>;
  isUp: () => Promise<boolean>;
};

/** What this process counted since its start. Values of several daemons add up. */
export function createOwnMetrics({ registry, version, sourceOf, isUp }: OwnDeps): Meter {
  gauge(registry, 'build_info', 'Version of po-sync; always 1.', ['version'], function () {
    this.set({ version }, 1);
  });
  const up = 'Whether Redis answered this scrape: 1 or 0.';
  gauge(registry, 'redis_up', up, [], async function () {
    this.set((await isUp()) ? 1 : 0);
  });
  return createMeter(registry, createSourceNames(sourceOf));
}

/** The process: CPU, memory, files, garbage collection, the delay of the event loop. Measures from now on. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 });
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
      void source(batch).then((name) => {
        settled.inc({ source: name, outcome }, count);
        if (ms !== undefined) orders.observe({ source: name }, Math.max(0, ms) / 1_000);
      }),
    notice: (receiver, result) => notices.inc({ channel: receiver.split(' ', 1)[0] ?? '', result }),
  };
}

/** The name of a metric without its prefix, its help and labels. */
type Definition = [registry: Registry, name: string, help: string, labelNames: string[]];

function counter(...[registry, name, help, labelNames]: Definition) {
  return new Counter({ name: `po_sync_${name}`, help, labelNames, registers: [registry] });
}

/** A gauge that `collect` sets when it is scraped. */
export function gauge(
  ...[registry, name, help, labelNames, collect]: [
    ...Definition,
    collect: (this: Gauge) => void | Promise<void>,
  ]
) {
  const registers = [registry];
  return new Gauge({ name: `po_sync_${name}`, help, labelNames, registers, collect });
}

function histogram(...[registry, name, help, labelNames, buckets]: [...Definition, number[]]) {
  const registers = [registry];
  return new Histogram({ name: `po_sync_${name}`, help, labelNames, buckets, registers });
}

/** An API may answer with any number; only known ones become a label. */
function statusLabel(status: number | undefined): string {
  if (status === undefined) return 'none';
  return STATUS_CODES[status] === undefined ? 'other' : String(status);
}

type SourceNames = (batch: string) => Promise<string>;

/** Batches whose source is remembered. */
const REMEMBERED = 1_000;

function createSourceNames(sourceOf: OwnDeps['sourceOf']): SourceNames {
  const known = new Map<string, Promise<string>>();

  async function find(batch: string): Promise<string> {
    const source = await sourceOf(batch).catch(() => undefined);
    if (source === undefined) known.delete(batch);
    return source ?? 'unknown';
  }

  return (batch) => {
    const source = known.get(batch) ?? find(batch);
    known.set(batch, source);
    const [oldest] = known.keys();
    if (known.size > REMEMBERED && oldest !== undefined) known.delete(oldest);
    return source;
  };
}
