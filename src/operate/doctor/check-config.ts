import { type Config, mappingsFor } from '../../config/config.ts';
import { isLoopback } from '../../config/fields.ts';
import { duration } from '../../core/format.ts';
import { type Finding, warn } from './finding.ts';

/** What a configuration that is right may still leave open. */
export function checkConfig(config: Config): Finding[] {
  return [...unprotected(config), ...checkAdminHost(config), ...checkStop(config)];
}

/** Where a mapping lets values pass that it does not describe. */
function unprotected(config: Config): Finding[] {
  return config.sources.flatMap(({ name }) =>
    mappingsFor(config, name).flatMap(({ name: key, mapping }): Finding[] => {
      const { columns, otherColumns } = mapping;
      const anything = Object.entries(columns).flatMap(([column, one]) =>
        one !== 'ignore' && 'is' in one && LIKE.has(one.is) && one.like === undefined
          ? [column]
          : [],
      );
      const open = [
        ...(otherColumns === 'ignore' ? ['a column that nobody declared is ignored'] : []),
        ...(anything.length > 0 ? [`${anything.join(' and ')} may have any value`] : []),
      ];
      if (open.length === 0) return [];
      const message = `nothing protects it there: ${open.join(', and ')} (mapping ${key})`;
      const remedy = 'po-sync map FILE proposes `like` for each column, and declares all of them.';
      return [warn(`source ${name}`, message, remedy)];
    }),
  );
}

/** What `like` describes. */
const LIKE: ReadonlySet<string> = new Set(['purchaseOrderNumber', 'articleCode']);

/** Whether other machines reach the admin port over plain http. With an https `publicUrl`, a proxy is known. */
function checkAdminHost({ admin: { host, publicUrl } }: Config): Finding[] {
  if (isLoopback(host) || publicUrl?.startsWith('https:')) return [];
  const message = `admin.host ${host} serves other machines over plain http: tokens and orders can be read on the way`;
  const remedy =
    'Put an https proxy before it and set admin.publicUrl to its address, or set admin.host to 127.0.0.1.';
  return [warn('admin port', message, remedy)];
}

/** Milliseconds after which pm2, the first of the service managers that po-sync has files for, kills a daemon. */
const KILLED = 45_000;
/** Milliseconds that a daemon drains after its longest call. */
const DRAINS = 5_000;

/** That a service manager may kill a daemon during its longest call, which leaves that order in doubt. */
function checkStop({ delivery: { timeout } }: Config): Finding[] {
  const longest = timeout + DRAINS;
  if (longest <= KILLED) return [];
  const message = `a call may take ${duration(timeout)} (delivery.timeout), and pm2 kills a daemon ${duration(KILLED)} after it has to stop: the order of that call would be in doubt`;
  const remedy = `Set kill_timeout of pm2, TimeoutStopSec of systemd or stop_grace_period of the container to more than ${duration(longest)}.`;
  return [warn('stop', message, remedy)];
}
