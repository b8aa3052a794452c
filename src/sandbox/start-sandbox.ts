import { PoSyncError } from '../core/errors.ts';
import { type Address, openAddress } from './address.ts';
import { API_PREFIX, listener } from './answer-call.ts';
import { allowList } from './authenticate.ts';
import type { Context } from './context.ts';
import { keepOutages } from './faults/keep-outages.ts';
import { openTasks } from './faults/open-tasks.ts';
import { planFaults } from './faults/plan-faults.ts';
import { createOrderStore } from './order-store.ts';
import { openOrderThread } from './order-thread.ts';
import { createRehearsal } from './rehearsal.ts';
import { type Emit, type SandboxOptions, settingsOf } from './sandbox-options.ts';
import { createTokenStore, openTokenFile } from './token-store.ts';

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
  checkName(settings.environment);
  const allowed = allowList(settings.allowIp);
  await using opened = new AsyncDisposableStack();
  const { environment } = settings;
  const { memory, reset } = options;
  const folder = memory ? undefined : settings.data;
  const unique = settings.onDuplicate === 'refuse';
  const table = opened.use(await openOrderThread({ folder, environment, unique, ...(reset && { reset }) }));
  const tokens = opened.use(openTokenFile(folder, environment, reset));
  const tasks = opened.use(openTasks());
  const rehearsal = options.record ? createRehearsal(settings.environment) : undefined;
  const emit = emitToAll(rehearsal && ((event) => rehearsal.take(event)), options.onEvent);
  const started = performance.now();
  const urls = { baseUrl: '', authUrl: '' };
  const context: Context = {
    settings,
    allowed,
    orders: createOrderStore(table),
    tokens: createTokenStore(tokens, settings.clientId, settings.tokenLifetime),
    emit,
    onCall: options.onCall,
    crashed(error) {
      emit?.({ type: 'crashed', at: Date.now(), error });
      options.onCrash?.(error);
    },
    plan: options.faults && planFaults(options.faults, () => performance.now() - started, emit),
    rehearsal,
    tasks,
    addresses: () => urls,
  };
  const { api, auth } = await openAddresses(options, context, opened);
  urls.baseUrl = `${api.url}${API_PREFIX}`;
  urls.authUrl = auth.url;
  if (options.faults) opened.use(keepOutages(options.faults, { api, auth }));
  const running = opened.move();
  return { environment, ...urls, ended: table.ended, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function openAddresses(
  { port, authPort }: SandboxOptions,
  context: Context,
  opened: AsyncDisposableStack,
): Promise<{ api: Address; auth: Address }> {
  const { host } = context.settings;
  if (authPort === undefined) {
    const both = opened.use(await openAddress(host, port, listener({ api: true, auth: true }, context)));
    return { api: both, auth: both };
  }
  const api = opened.use(await openAddress(host, port, listener({ api: true, auth: false }, context)));
  const auth = opened.use(await openAddress(host, authPort, listener({ api: false, auth: true }, context)));
  return { api, auth };
}

function emitToAll(...listeners: (Emit | undefined)[]): Emit | undefined {
  const present = listeners.filter((one) => one !== undefined);
  if (present.length === 0) return undefined;
  return (event) => {
    for (const one of present) one(event);
  };
}

function checkName(environment: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(environment)) return;
  throw new PoSyncError('sandbox-environment-invalid', `"${environment}" is not a valid environment name.`, {
    remedy: 'Use letters, digits, "-" and "_", starting with a letter or digit.',
    facts: { value: environment },
  });
}
