import type { Config } from '../config/config.ts';
import type { Secret } from '../config/secret.ts';
import type { Secrets } from '../config/secrets.ts';
import type { Clock } from '../core/clock.ts';
import type { Batch } from '../ledger/batches.ts';
import type { Log } from '../log/log.ts';
import type { NoticeSurroundings } from '../notify/notices.ts';
import type { Backlog } from './backlog.ts';
import type { Self } from './heartbeat.ts';

/** What a daemon is built from. */
export type DaemonInput = {
  config: Config;
  secrets: Secrets;
  adminToken?: Secret;
  clock: Clock;
  log: Log;
  self: Self;
  /** Ends the wait for a Redis that loads. */
  signal?: AbortSignal;
  /** Keeps a value out of the log. */
  hide?: (secret: string) => void;
  /** Called with each batch that was settled here, and how many of its orders need a person. */
  onSettled?: (batch: Batch, needPerson: number) => void;
  /** What notices may use of the process. */
  notices?: NoticeSurroundings;
  /** `--once` serves no admin port. */
  admin: boolean;
};

/** A daemon that is open; disposing hands its work back. */
export type Daemon = AsyncDisposable &
  Backlog & {
    adminPort: number | undefined;
    /** Watches the sources from now on. */
    watch(): Promise<void>;
    /** Takes the files present now; resolves when each is claimed. */
    takePresent(): Promise<void>;
  };
