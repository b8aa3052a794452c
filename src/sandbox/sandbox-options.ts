import { PoSyncError } from '../core/errors.ts';
import type { NewOrder } from './database.ts';
import type { Demand, FaultFile, FaultKind } from './faults/fault-file.ts';
import { LIST_MODES, type ListMode, listModeOf } from './list-mode.ts';

/** The scopes of API part 5; `admin` includes the other two. */
export const SCOPES = ['read', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** The two spellings of the token path in the specification (API part 5). */
export const TOKEN_PATHS = ['/oauth2/token', '/oauth/token'] as const;
export type TokenPath = (typeof TOKEN_PATHS)[number];

/** Credentials, and the scopes that they may request. */
export type Client = { id: string; secret: string; scopes: readonly Scope[] };

/** The options of one environment of the reference API. */
export type SandboxOptions = {
  /** Letters, digits, `-` and `_`; also the name of the data file and the realm of bearer challenges. */
  environment: string;
  /** 0 selects a free port. */
  port: number;
  /** A separate port for the token endpoint (0: any free port); without it both share one address. */
  authPort?: number | undefined;
  host?: string | undefined;
  tokenPath?: TokenPath | undefined;
  clientId: string;
  clientSecret: string;
  /** The scopes that the credentials may request; all three when absent. */
  scopes?: readonly Scope[] | undefined;
  /** Whether a missing or wider Accept or Content-Type is refused (API part 5, rule 4) or accepted. */
  headers?: 'strict' | 'lenient' | undefined;
  /** Folder of the environment's SQLite file; created when missing. */
  data: string;
  /** CIDR ranges or addresses that may call; every address when empty. */
  allowIp?: readonly string[] | undefined;
  /** Whether a repeated number creates another order or is refused, with 409 or another status. */
  onDuplicate?: 'accept' | 'refuse' | number | undefined;
  /** What calls must have beyond the specification. */
  demand?: Demand | undefined;
  faults?: FaultFile | undefined;
  /** Serves `/rehearsal` on the auth address: the last calls. */
  record?: boolean | undefined;
  /** Seconds; 3600 as in API part 8. */
  tokenLifetime?: number | undefined;
  /** What the list shows: a list mode, such as `all` (default) or `newest:15`. */
  list?: string | undefined;
  /** Whether `data` of the list is the array itself or an object that contains it. */
  listShape?: 'array' | 'object' | undefined;
  /** Whether listed orders show their items. */
  listItems?: boolean | undefined;
  /** The address that callers use, such as https://api.example.com behind a proxy. */
  publicUrl?: string | undefined;
  /** Orders to store at startup, except those whose number is already there. */
  seed?: readonly NewOrder[] | undefined;
  /** Receives every event. */
  onEvent?: ((event: SandboxEvent) => void) | undefined;
  /** Keeps all data in memory; `data` is not used. */
  memory?: boolean | undefined;
  /** Removes the orders and tokens of earlier runs at startup. */
  reset?: boolean | undefined;
};

/** The options with all defaults applied. */
export type SandboxSettings = ReturnType<typeof settingsOf>;

/**
 * Applies the defaults; an explicit option takes precedence over the fault file.
 * Throws PoSyncError `list-mode-invalid`.
 */
export function settingsOf(options: SandboxOptions) {
  return {
    environment: options.environment,
    host: options.host ?? '127.0.0.1',
    tokenPath: options.tokenPath ?? TOKEN_PATHS[0],
    client: {
      id: options.clientId,
      secret: options.clientSecret,
      scopes: options.scopes ?? SCOPES,
    } satisfies Client,
    headers: options.headers ?? 'strict',
    data: options.data,
    allowIp: options.allowIp ?? [],
    onDuplicate: options.onDuplicate ?? 'accept',
    demand: options.demand ?? options.faults?.demand ?? {},
    tokenLifetime: options.tokenLifetime ?? options.faults?.tokenLifetime ?? 3600,
    list: modeIn(options.list ?? 'all'),
    listShape: options.listShape ?? options.faults?.listShape ?? 'object',
    listItems: options.listItems ?? options.faults?.listItems ?? true,
  };
}

function modeIn(text: string): ListMode {
  const mode = listModeOf(text);
  if (mode !== undefined) return mode;
  throw new PoSyncError('list-mode-invalid', `"${text}" is not a list mode.`, {
    remedy: `Use ${LIST_MODES}.`,
    facts: { value: text },
  });
}

/** The three specified operations, and everything else. */
export type Operation = 'create' | 'list' | 'token' | 'other';

/** An event in a sandbox; `at` in milliseconds since 1970. */
export type SandboxEvent =
  /** The body of a create call was read; `order` is "" when it contains no number. */
  | { type: 'received'; at: number; order: string }
  /** An order is stored. */
  | { type: 'stored'; at: number; order: string }
  /** A call ended; `status` is 0 if the connection was dropped, `reason` is "" for a success. */
  | {
      type: 'answered';
      at: number;
      durationMs: number;
      on: Operation;
      method: string;
      path: string;
      status: number;
      reason: string;
    }
  /** The token endpoint's outcome: `issued`, or an error of RFC 6749 section 5.2. */
  | { type: 'token'; at: number; outcome: string }
  | { type: 'fault'; at: number; on: Operation; kind: FaultKind; order: string }
  /** A bug or a disk failure; the caller got a 500. */
  | { type: 'crashed'; at: number; error: Error };

export type Emit = (event: SandboxEvent) => void;
