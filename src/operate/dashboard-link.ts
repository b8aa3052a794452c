import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Config } from '../config/config.ts';
import { isLoopback } from '../config/fields.ts';
import { PoSyncError } from '../core/errors.ts';
import type { Store } from '../redis/store.ts';
import { type LivingDaemon, livingDaemons } from './heartbeat.ts';
import type { OperatorContext } from './operator-context.ts';

type Where = Pick<Store, 'redis' | 'keys'>;

/** Seconds in which a link can be opened. */
const CODE = 60;

/** Where Redis keeps for whom a code is valid: under its digest. */
export function codeKey({ keys }: Pick<Where, 'keys'>, code: string): string {
  return keys.dashboardCode(createHash('sha256').update(code).digest('hex'));
}

/** A link that opens the dashboard once. Throws PoSyncError `daemon-missing`. */
export async function createLink(context: OperatorContext) {
  const { config, store, operator } = context;
  const base = config.admin.publicUrl ?? addressOf(await livingDaemons(store), config);
  const url = `${base}/open#${await createCode(store, operator.who)}`;
  return { url, who: operator.who, expiresInMs: CODE * 1_000 };
}

/** A code that opens one session. */
export async function createCode(store: Where, who: string): Promise<string> {
  const code = randomBytes(24).toString('base64url');
  await store.redis.set(codeKey(store, code), who, 'EX', CODE);
  return code;
}

/** Ends every session within ten seconds. */
export async function endSessions({ redis, keys }: Where): Promise<void> {
  await redis.del(keys.sessionKey);
}

/** The address of a daemon that a browser on this machine reaches. */
function addressOf(daemons: readonly LivingDaemon[], { admin }: Config): string {
  const serving = daemons.filter(({ adminPort }) => adminPort !== undefined);
  const own = serving.find(({ host }) => host === hostname());
  const found = own ?? (isLoopback(admin.host) ? undefined : serving[0]);
  if (found !== undefined)
    return `http://${found === own ? '127.0.0.1' : found.host}:${found.adminPort}`;
  const message = `No daemon on this machine (${hostname()}) serves the dashboard.`;
  throw new PoSyncError('daemon-missing', message, {
    remedy:
      'Run po-sync start here, run this command on the machine of a daemon, or set admin.publicUrl.',
  });
}
