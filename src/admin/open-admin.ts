import { signInFailed } from '../log/events/daemon.ts';
import type { DaemonInput } from '../operate/daemon.ts';
import type { Context } from '../redis/store.ts';
import { assetRoute } from './dashboard/assets.ts';
import { createReadiness } from './endpoints.ts';
import { createGuard } from './http/guard.ts';
import type { Route } from './http/route.ts';
import { createSessions } from './http/session.ts';
import { signInRoutes } from './http/sign-in.ts';
import { type Admin, startAdmin } from './start-admin.ts';

type AdminInput = {
  input: DaemonInput;
  context: Context;
  parts: { sources: { healthy(): boolean } };
  /** Metrics. */
  routes: readonly Route[];
};

/** Opens the admin port of a daemon: health, metrics, login, control API and dashboard. Throws like `startAdmin`. */
export async function openAdmin({ input, context, parts, routes }: AdminInput): Promise<Admin> {
  const { config, store, log } = context;
  const { host, port, publicUrl } = config.admin;
  const tokens = input.adminTokens ?? new Map();
  const sessions = createSessions(store, tokens);
  const guard = createGuard({ host, publicUrl, tokens, sessions, onFailure: () => signInFailed(log) });
  const folders = { data: config.data, reports: config.reports.path };
  return startAdmin({
    host,
    port,
    tokens,
    guard,
    checks: createReadiness({ ...store, folders, sources: parts.sources }),
    routes: [...routes, assetRoute(), ...signInRoutes({ guard, sessions })],
  });
}
