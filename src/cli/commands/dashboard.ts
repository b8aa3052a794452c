import { hostname } from 'node:os';
import { createDashboardCode, endSessions } from '../../admin/http/session.ts';
import type { Config } from '../../config/config.ts';
import { isLoopback } from '../../config/fields.ts';
import { PoSyncError } from '../../core/errors.ts';
import { type LivingDaemon, livingDaemons } from '../../operate/heartbeat.ts';
import { type CommonArgs, openOperatorContext } from '../load-config.ts';
import type { Shell } from '../shell.ts';
import { printJson } from '../terminal/print.ts';

/** `dashboard`: prints a link that opens the dashboard once within a minute, or ends every session. */
export async function dashboardCommand(
  args: CommonArgs & { signOutAll: boolean },
  shell: Shell,
): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: false });
  const { config, store, operator } = context;
  if (args.signOutAll) {
    await endSessions(store);
    if (args.json) printJson(shell, { signedOut: true });
    else shell.out('Every session of the dashboard ends within 10 s.\n');
    return 0;
  }
  const base = config.admin.publicUrl ?? addressOf(await livingDaemons(store), config);
  const url = `${base}/open#${await createDashboardCode(store, operator.who)}`;
  if (args.json) printJson(shell, { url, who: operator.who, expiresInMs: 60_000 });
  else shell.out(`${url}\n\nThe link works once, within 60 s, for ${operator.who}.\n`);
  return 0;
}

/** The address of a daemon that a browser on this machine reaches. Throws PoSyncError `daemon-missing`. */
function addressOf(daemons: readonly LivingDaemon[], { admin }: Config): string {
  const serving = daemons.filter(({ adminPort }) => adminPort !== undefined);
  const own = serving.find(({ host }) => host === hostname());
  const found = own ?? (isLoopback(admin.host) ? undefined : serving[0]);
  if (found === undefined) {
    throw new PoSyncError(
      'daemon-missing',
      `No daemon on this machine (${hostname()}) serves the dashboard.`,
      {
        remedy:
          'Run po-sync start here, run this command on the machine of a daemon, or set admin.publicUrl.',
      },
    );
  }
  return `http://${found === own ? '127.0.0.1' : found.host}:${found.adminPort}`;
}
