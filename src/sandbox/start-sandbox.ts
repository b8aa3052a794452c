import { PoSyncError } from '../core/errors.ts';
import { type Address, allowList, openAddress } from './address.ts';
import { API_PREFIX, listener } from './answer-call.ts';
import { createAnswerOnce } from './answer-once.ts';
import type { Context } from './context.ts';
import { createOrderTable, openDatabase } from './database.ts';
import { createExchanges, createRedaction } from './exchanges.ts';
import { openFaultControl } from './faults/fault-control.ts';
import type { FaultFile } from './faults/fault-file.ts';
import { openTasks } from './faults/rehearse.ts';
import { createList } from './list.ts';
import { type SandboxOptions, settingsOf } from './sandbox-options.ts';
import { createTokenStore } from './token-store.ts';

/** A running reference API of one environment. */
export type Sandbox = {
  environment: string;
  /** `{base_url}` of the specification, ending in /api/v1. */
  baseUrl: string;
  /** `{auth_url}` of the specification. */
  authUrl: string;
  /** Replaces the faults while it runs. */
  setFaults(file: FaultFile): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Starts the reference Purchase-Order API of one environment.
 * Throws PoSyncError for an invalid name, list mode, address range, data folder or port.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const settings = settingsOf(options);
  const { environment, data } = settings;
  checkEnvironmentName(environment);
  const allowed = allowList(settings.allowIp);
  await using opened = new AsyncDisposableStack();
  const { memory, reset, record, faults, onEvent: emit = () => undefined } = options;
  const database = opened.use(openDatabase(memory ? undefined : data, environment, reset));
  const tasks = opened.use(openTasks());
  const redact = createRedaction(settings.client.secret);
  const { idempotencyKey, headers = {} } = settings.demand;
  const orders = createOrderTable(database);
  const control = openFaultControl(faults, emit);
  const urls = { baseUrl: '', authUrl: '' };
  const context: Context = {
    settings,
    allowed,
    orders,
    answerOnce: idempotencyKey && createAnswerOnce(database, idempotencyKey.valid),
    list: createList(orders, control, settings),
    tokens: createTokenStore(database, settings.tokenLifetime),
    emit,
    faults: control,
    exchanges: record ? createExchanges(redact, Object.keys(headers)) : undefined,
    redact,
    tasks,
    addresses: () => urls,
  };
  for (const order of options.seed ?? []) if (!orders.has(order.number)) orders.insert(order);
  const addresses = await openAddresses(options, context, opened);
  Object.assign(urls, publicUrls(addresses, options.publicUrl));
  opened.use(control).attach(addresses);
  const running = opened.move();
  return {
    environment,
    ...urls,
    setFaults: control.replace,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function openAddresses(
  { port, authPort }: SandboxOptions,
  context: Context,
  opened: AsyncDisposableStack,
): Promise<{ api: Address; auth: Address }> {
  const { host } = context.settings;
  const open = async (on: number, role: { api: boolean; auth: boolean }) =>
    opened.use(await openAddress(host, on, listener(role, context)));
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
