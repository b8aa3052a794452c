import type { Partner } from '../api/partner.ts';
import { codeOf, PoSyncError } from '../core/errors.ts';
import { readModelTrouble, signInFailed } from '../log/events/daemon.ts';
import type { DaemonInput } from '../operate/daemon.ts';
import { holderOf } from '../operate/heartbeat.ts';
import type { OperatorContext } from '../operate/operator-context.ts';
import type { ClaimedFile } from '../order/batch.ts';
import type { Context } from '../redis/store.ts';
import { type ApiContext, createApiContext } from './api/api-context.ts';
import { batchRoutes } from './api/batch-routes.ts';
import { operationRoutes } from './api/operation-routes.ts';
import { eventsRoute } from './dashboard/events.ts';
import { fixPageRoutes } from './dashboard/fix-page.ts';
import { assetRoute, missingPage, pageRoutes } from './dashboard/page-routes.ts';
import { planPageRoutes } from './dashboard/plan-pages.ts';
import { uploadPageRoutes } from './dashboard/upload-routes.ts';
import { createGuard } from './http/guard.ts';
import { createReadiness } from './http/health.ts';
import type { Route } from './http/route.ts';
import { createSessions } from './http/session.ts';
import { signInRoutes } from './http/sign-in.ts';
import type { Hours } from './picture/hours.ts';
import { type Admin, startAdmin } from './start-admin.ts';

/** The parts of the daemon that people see and act on. */
type Parts = Pick<OperatorContext, 'queue' | 'breaker'> & {
  book: Pick<OperatorContext, 'ledger' | 'batches'>;
  sources: { healthy(): boolean; take(file: ClaimedFile): Promise<void> };
  partner: Pick<Partner, 'list'>;
};

type AdminInput = {
  input: DaemonInput;
  context: Context;
  parts: Parts;
  hours: Hours;
  /** Metrics. */
  routes: readonly Route[];
};

/** What people see and act on, in a browser or by a program. */
const PAGES_AND_API: readonly ((api: ApiContext) => Route[])[] = [
  operationRoutes,
  batchRoutes,
  pageRoutes,
  fixPageRoutes,
  uploadPageRoutes,
  planPageRoutes,
];

/** Opens the admin port of a daemon: health, metrics, login, control API and dashboard. Throws like `startAdmin`. */
export async function openAdmin({
  input,
  context,
  parts,
  hours,
  routes,
}: AdminInput): Promise<Admin> {
  const { config, store, log } = context;
  const { host, port, publicUrl } = config.admin;
  const tokens = input.adminTokens ?? new Map();
  const sessions = createSessions(store, tokens);
  const guard = createGuard({
    host,
    publicUrl,
    tokens,
    sessions,
    onFailure: () => signInFailed(log, {}),
  });
  const { queue, breaker, book, sources } = parts;
  await using resources = new AsyncDisposableStack();
  const api = resources.use(
    createApiContext(
      { ...context, ...book, queue, breaker },
      {
        ...parts,
        takesFiles: input.self.role !== 'delivery',
        hours,
        examine: () => examinedHere(input, context),
      },
    ),
  );
  const folders = {
    data: config.data,
    ...(input.self.role !== 'delivery' && { reports: config.reports.path }),
  };
  const admin = await startAdmin({
    host,
    port,
    file: config.file,
    tokens,
    guard,
    missing: missingPage(api),
    checks: createReadiness({ ...store, folders, sources }),
    routes: [
      ...routes,
      assetRoute(),
      eventsRoute(api),
      ...signInRoutes({ guard, sessions, environment: config.environment }),
      ...PAGES_AND_API.flatMap((routesOf) => routesOf(api)),
    ],
  }).catch(async (error: unknown) => {
    throw await withHolder(error, context);
  });
  resources.use(admin);
  resources.use(
    hours.record(context.clock, (error) => readModelTrouble(log, { reason: error.message })),
  );
  const kept = resources.move();
  return { port: admin.port, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

async function examinedHere({ notices, config }: DaemonInput, { stopping }: Context) {
  const { examined } = await import('../operate/doctor/examine.ts');
  const { env = {} } = notices ?? {};
  return examined(config, { env, signal: stopping, confirm: config.environment });
}

/** Names the process of po-sync that has the port, if one has it. */
async function withHolder(thrown: unknown, { config, store }: Context): Promise<unknown> {
  const { host, port } = config.admin;
  const holder = codeOf(thrown) === 'port-occupied' ? await holderOf(port, store) : undefined;
  if (holder === undefined) return thrown;
  const { pid } = holder;
  const message = `The admin port ${host}:${port} is occupied: po-sync already runs here (process ${pid}).`;
  return new PoSyncError('port-occupied', message, {
    remedy: `To replace that daemon, stop it first (kill ${pid}). To run a second one, set another admin.port in ${config.file}, or PO_SYNC_ADMIN_PORT=0 for any free port. Where PO_SYNC_ADMIN_PORT is set, admin.port has no effect.`,
    facts: { host, port, pid },
    cause: thrown,
  });
}
