import pino from 'pino';
import { openPartner, type Partner } from '../../src/api/partner.ts';
import type { Config, Delivery, Environment } from '../../src/config/config.ts';
import { Secret } from '../../src/config/secret.ts';
import { type ApiHeaders, NO_HEADERS } from '../../src/config/secrets.ts';
import { startLoop } from '../../src/core/backoff/loop.ts';
import { systemClock } from '../../src/core/clock.ts';
import {
  type CircuitBreaker,
  createEnvironmentBreaker,
} from '../../src/deliver/circuit-breaker.ts';
import { createDelivery, type Delivery as Deliverer } from '../../src/deliver/delivery.ts';
import type { Batches } from '../../src/ledger/batches/batches.ts';
import { createEnvironmentLedger } from '../../src/ledger/environment-ledger.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { digestOf } from '../../src/order/digest.ts';
import { type OrderQueue, openQueue } from '../../src/queue/queue.ts';
import { createReconciliation, type Reconciliation } from '../../src/reconcile/reconciliation.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import type { Context } from '../../src/redis/store.ts';
import { faultFile } from '../../src/sandbox/faults/fault-file.ts';
import type { SandboxEvent, SandboxOptions } from '../../src/sandbox/sandbox-options.ts';
import { orderOf } from './entry.ts';
import { type OpenRedis, openTestRedis } from './open-redis.ts';
import { CLIENT_ID, CLIENT_SECRET, type OpenSandbox, openSandbox } from './open-sandbox.ts';
import { makeTempFolder } from './temp-folder.ts';
import { until } from './until.ts';

export type DeliveryRig = AsyncDisposable & {
  api: OpenSandbox;
  context: Context;
  store: OpenRedis;
  ledger: Ledger;
  queue: OrderQueue;
  partner: Partner;
  breaker: CircuitBreaker;
  held: Deliverer['held'];
  reconciliation: Reconciliation;
  batches: Batches;
  /** What the API did, by its record. */
  events: SandboxEvent[];
  /** Lines of the log, parsed. */
  lines: Record<string, unknown>[];
  /** Enters the orders as one batch and adds them to the queue in jobs of ten. */
  submit(batch: string, numbers: readonly string[]): Promise<void>;
  /** Resolves when every order is settled or needs a person. */
  settled(): Promise<void>;
  /** How often each number was stored by the API. */
  stored(): Map<string, number>;
};

type RigOptions = {
  sandbox?: Partial<SandboxOptions>;
  /** Faults as in a fault file. */
  faults?: unknown;
  delivery?: Partial<Delivery>;
  environment?: Partial<Environment>;
  secret?: string;
  headers?: ApiHeaders;
  /** An API other than the sandbox. */
  partner?: { baseUrl: string; authUrl: string };
  /** The ledger is new: nothing is sent before the API's list was read. */
  waitsFor?: 'reports';
  isNew?: boolean;
  /** Whether Redis was not lost just now. */
  isSteady?: () => boolean;
};

const DELIVERY: Delivery = {
  concurrency: 8,
  timeout: 5_000,
  attempts: 12,
  backoff: { initial: 20, max: 200 },
  settle: 300,
  probe: { initial: 100, max: 400 },
  onDoubt: 'verify',
  readList: 'newLedger',
  refusalHold: { share: 0.5, of: 40 },
};

/** Everything between the queue and the API, with a real Redis and the reference API, at a quick pace. */
export async function openDeliveryRig(options: RigOptions = {}): Promise<DeliveryRig> {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await openTestRedis());
  const events: SandboxEvent[] = [];
  const faults = options.faults === undefined ? {} : { faults: faultFile.parse(options.faults) };
  const api = stack.use(
    await openSandbox({ onEvent: (event) => events.push(event), ...faults, ...options.sandbox }),
  );
  const plain = await connectRedis(store.server.url, { plain: true });
  stack.defer(() => plain.disconnect());
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'debug' },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const environment: Environment = {
    baseUrl: options.partner?.baseUrl ?? api.baseUrl,
    authUrl: options.partner?.authUrl ?? api.authUrl,
    token: { path: 'auto', clientAuth: 'form' },
    protected: false,
    list: 'prove',
    numbers: 'canonical',
    ...options.environment,
  };
  const reports = stack.use(await makeTempFolder());
  const config: Config = {
    file: '/none',
    environment: 'staging',
    data: reports.path,
    redis: {},
    environments: { staging: environment },
    sources: [],
    mappings: {},
    reports: { path: reports.path, keep: 0 },
    ledger: { keep: 'forever' },
    notify: [],
    admin: { host: '127.0.0.1', port: 0 },
    tracing: { enabled: false },
    log: { level: 'debug' },
    delivery: { ...DELIVERY, ...options.delivery },
  };
  const stopping = new AbortController();
  const context: Context = {
    config,
    store: {
      ...store,
      plain,
      private: false,
      isSteady: options.isSteady ?? (() => true),
      [Symbol.asyncDispose]: async () => undefined,
    },
    owner: 'rig',
    clock: systemClock,
    log,
    stopping: stopping.signal,
  };
  const secrets = {
    clientId: CLIENT_ID,
    clientSecret: new Secret(options.secret ?? CLIENT_SECRET),
    headers: options.headers ?? NO_HEADERS,
  };
  const book = createEnvironmentLedger(context);
  const { ledger, batches } = book;
  const queue = stack.use(openQueue(context));
  const partner = stack.use(openPartner(context, { secrets }));
  const breaker = createEnvironmentBreaker(context);
  const reconciliation = createReconciliation(
    { context, book, partner, breaker },
    options.waitsFor,
  );
  const on = {
    accepted: reconciliation.remember,
    outcome: () => undefined,
    rolledBack: reconciliation.establish,
  };
  const { deliverJob, held, sweep } = createDelivery({
    context,
    book,
    queue,
    partner,
    breaker,
    on,
  });
  await reconciliation.establish();
  // As after the API's list was read into the new ledger.
  if (!options.isNew) await store.redis.del(store.keys.rebuild);
  const onTrouble = (error: Error) => void lines.push({ trouble: error.message });
  const proving = options.isNew ? [reconciliation.prove] : [];
  for (const tick of [sweep, reconciliation.verify, held.refresh, ...proving]) {
    stack.use(startLoop(tick, { pause: 20, clock: systemClock, onTrouble }));
  }
  stack.use(queue.work(config.delivery, deliverJob));
  stack.defer(() => stopping.abort());

  async function submit(batch: string, numbers: readonly string[]): Promise<void> {
    const file = {
      batch,
      source: 'inbox',
      kind: 'inbox',
      name: 'orders.csv',
      path: '/none',
    } as const;
    const { no } = await batches.begin(file, store.time.now());
    for (let i = 0; i < numbers.length; i += 10) {
      const job = queue.nameJob();
      const group = numbers.slice(i, i + 10);
      const entries = group.map((number, n) => ({
        ...({
          version: 1,
          state: 'queued',
          order: orderOf(number),
          digest: digestOf(orderOf(number)),
          batch,
          batchNo: no,
        } as const),
        ordinal: i + n,
        place: { line: i + n + 2 },
        job,
        attempt: 0,
        used: 0,
        absences: 0,
      }));
      await Promise.all(
        entries.map((entry) => ledger.enter(entry, undefined, store.time.now() + 3_600_000)),
      );
      await queue.add([{ id: job, name: `orders ${i}`, batch, numbers: group }]);
    }
    await batches.admitted(batch, numbers.length, '');
  }

  const kept = stack.move();
  return {
    api,
    context,
    store,
    ledger,
    queue,
    partner,
    breaker,
    held,
    reconciliation,
    batches,
    events,
    lines,
    submit,
    async settled() {
      await until('all orders settled', async () => (await ledger.unsettled()) === 0);
    },
    stored() {
      const counts = new Map<string, number>();
      for (const event of events) {
        if (event.type === 'stored') counts.set(event.order, (counts.get(event.order) ?? 0) + 1);
      }
      return counts;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Order numbers PO-0001 and so on. */
export function numbersOf(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `PO-${String(i + 1).padStart(4, '0')}`);
}
