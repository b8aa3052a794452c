import { execFile } from 'node:child_process';
import type { Variables } from '../config/variables.ts';

/** What systemd learns about this process (sd_notify(3)). Without systemd, nothing happens. */
export type ServiceManager = {
  ready(): void;
  stopping(): void;
  /** Reports that the daemon is not frozen; disposing ends it. */
  watch(): Disposable;
};

/** How many reports fit into the time after which systemd restarts the service. */
const REPORTS = 3;

/**
 * Builds the connection to systemd from the variables that it sets: `NOTIFY_SOCKET`, and `WATCHDOG_USEC` where the unit
 * has WatchdogSec. Node.js cannot write to a datagram socket, so `systemd-notify` does; the unit needs
 * `NotifyAccess=all`.
 */
export function createServiceManager(env: Variables): ServiceManager {
  const notify = (message: string) => {
    if (!env['NOTIFY_SOCKET']) return;
    const { PATH, NOTIFY_SOCKET } = env;
    // A report that is lost is followed by the next one; without any, systemd restarts the service and logs why.
    execFile(
      'systemd-notify',
      [message],
      { env: { PATH, NOTIFY_SOCKET }, timeout: 10_000 },
      () => undefined,
    ).unref();
  };
  return {
    ready: () => notify('READY=1'),
    stopping: () => notify('STOPPING=1'),
    watch() {
      const limit = Number(env['WATCHDOG_USEC'] ?? 0) / 1000;
      const timer =
        limit > 0 ? setInterval(() => notify('WATCHDOG=1'), limit / REPORTS) : undefined;
      return { [Symbol.dispose]: () => clearInterval(timer) };
    },
  };
}
