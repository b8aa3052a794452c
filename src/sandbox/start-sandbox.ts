import { PoSyncError } from '../core/errors.ts';
import { type Address, allowList, openAddress } from './address.ts';
import { API_PREFIX, listener } from './answer-call.ts';
import type { Context } from './context.ts';
import { openTokenFile } from './database.ts';
import { createExchanges, createRedaction } from './exchanges.ts';
import { openFaultControl } from './faults/fault-control.ts';
import { openTasks } from './faults/rehearse.ts';
import { createOrderStore, type NewOrder, type OrderStore, type Stored } from './order-store.ts';
import { openOrderThread } from './order-thread.ts';
import { createOrderReader } from './read-order.ts';
import { createRehearsal } from './rehearsal.ts';
import { type Emit, type SandboxOptions, settingsOf } from './sandbox-options.ts';
import { createTokenStore } from './token-store.ts';

/** A running reference API of one environment. */
export type Sandbox = {
  environment: string;
  /** `{base_url}` of the specification, ending in /api/v1. */
  baseUrl: string;
  /** `{auth_url}` of the specification. */
  authUrl: string;
  /** Resolves with the reason when the sandbox can no longer store orders, at the latest when it is disposed of. */
  ended: Promise<Error>;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Starts the reference Purchase-Order API of one environment.
 * Throws PoSyncError for an invalid name, address range, data folder or port.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const settings = settingsOf(options);
  checkEnvironmentName(settings.environment);
  const allowed = allowList(settings.allowIp);
  await using opened = new AsyncDisposableStack();
  const { environment, onDuplicate } = settings;
  const { memory, reset = false } = options;
  const clientIds = settings.clients.map(({ id }) => id);
  const folder = memory ? undefined : settings.data;
  const table = opened.use(
    await openOrderThread({ folder, environment, unique: onDuplicate === 'refuse', reset }),
  );
  const tokens = opened.use(openTokenFile(folder, environment, reset));
  const store = createTokenStore(tokens, clientIds, settings.tokenLifetime);
  const tasks = opened.use(openTasks());
  const redact = createRedaction(settings.clients);
  const rehearsal = options.record
    ? createRehearsal(environment, createExchanges(redact))
    : undefined;
  const emit = emitToAll(rehearsal && ((event) => rehearsal.take(event)), options.onEvent);
  const urls = { baseUrl: '', authUrl: '' };
  const context: Context = {
    settings,
    allowed,
    readOrder: createOrderReader(settings),
    orders: createOrderStore(table),
    tokens: store,
    emit,
    onCall: options.onCall,
    crashed(error) {
      emit?.({ type: 'crashed', at: Date.now(), error });
      options.onCrash?.(error);
    },
    faults: openFaultControl(options.faults, emit),
    rehearsal,
    redact,
    tasks,
    addresses: () => urls,
  };
  await seed(options.seed ?? [], context.orders);
  const addresses = await openAddresses(options, context, opened);
  Object.assign(urls, publicUrls(addresses, options.publicUrl));
  opened.use(context.faults).attach(addresses);
  const running = opened.move();
  return {
    environment,
    ...urls,
    ended: table.ended,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Stores the orders whose number is not there yet, so that every start may bring the same ones. */
async function seed(wanted: readonly NewOrder[], orders: OrderStore): Promise<void> {
  if (wanted.length === 0) return;
  const present = new Set<string>();
  for await (const rows of orders.pages(await orders.range(Number.MAX_SAFE_INTEGER))) {
    for (const { number } of rows) present.add(number);
  }
  const missing = wanted.filter(({ number }) => !present.has(number));
  const outcomes = await Promise.all(
    missing.map((order) => new Promise<Stored | Error>((resolve) => orders.create(order, resolve))),
  );
  const failed = outcomes.find((outcome) => outcome instanceof Error);
  if (failed instanceof Error) throw failed;
}

async function openAddresses(
  { port, authPort, tls }: SandboxOptions,
  context: Context,
  opened: AsyncDisposableStack,
): Promise<{ api: Address; auth: Address }> {
  const { host } = context.settings;
  const open = async (on: number, role: { api: boolean; auth: boolean }) =>
    opened.use(await openAddress(host, on, listener(role, context), { tls }));
  if (authPort === undefined) {
    const both = await open(port, { api: true, auth: true });
    return { api: both, auth: both };
  }
  return {
    api: await open(port, { api: true, auth: false }),
    auth: await open(authPort, { api: false, auth: true }),
  };
}

/** The addresses that callers use; a token endpoint on its own port keeps that port behind a public address. */
function publicUrls({ api, auth }: { api: Address; auth: Address }, publicUrl: string | undefined) {
  if (publicUrl === undefined) return { baseUrl: `${api.url}${API_PREFIX}`, authUrl: auth.url };
  const shown = new URL(publicUrl);
  const text = () => shown.href.replace(/\/+$/, '');
  const baseUrl = `${text()}${API_PREFIX}`;
  if (api !== auth) shown.port = new URL(auth.url).port;
  return { baseUrl, authUrl: text() };
}

function emitToAll(...listeners: (Emit | undefined)[]): Emit | undefined {
  const present = listeners.filter((one) => one !== undefined);
  if (present.length === 0) return undefined;
  return (event) => {
    for (const one of present) one(event);
  };
}

/** Throws PoSyncError `sandbox-environment-invalid` for a name that cannot be part of a file name. */
export function checkEnvironmentName(environment: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(environment)) return;
  throw new PoSyncError(
    'sandbox-environment-invalid',
    `"${environment}" is not a valid environment name.`,
    {
      remedy: 'Use letters, digits, "-" and "_", starting with a letter or digit.',
      facts: { value: environment },
    },
  );
}
