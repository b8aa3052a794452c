import type { FaultFile, FaultKind } from './faults/fault-file.ts';

/** The scopes of spec part 5; `admin` includes the other two. */
export const SCOPES = ['read', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** The two spellings of the token endpoint that the specification gives (spec part 5). */
export const TOKEN_PATHS = ['/oauth2/token', '/oauth/token'] as const;
export type TokenPath = (typeof TOKEN_PATHS)[number];

/** What one environment of the reference API is made of. */
export type SandboxOptions = {
  /** Letters, digits, `-` and `_`; names the data files and the realm of bearer challenges. */
  environment: string;
  /** 0 takes any free port. */
  port: number;
  /** The token endpoint's own port (0: any free one); without it the token endpoint shares the API's address. */
  authPort?: number | undefined;
  host?: string | undefined;
  tokenPath?: TokenPath | undefined;
  clientId: string;
  clientSecret: string;
  /** What the credentials may ask for; all three when absent. */
  scopes?: readonly Scope[] | undefined;
  /** Folder of the environment's SQLite files; made when absent. */
  data: string;
  /** CIDR ranges or addresses that may call; anybody when empty. */
  allowIp?: readonly string[] | undefined;
  /** What a second POST of a number becomes: another order, or a 409. */
  onDuplicate?: 'accept' | 'refuse' | undefined;
  faults?: FaultFile | undefined;
  /** Opens `GET /rehearsal` on the auth address. */
  record?: boolean | undefined;
  /** Seconds; 3600 as in spec part 8. */
  tokenLifetime?: number | undefined;
  /** Whether `data` of the list is the array itself or an object that holds it. */
  listShape?: 'array' | 'object' | undefined;
  /** Whether listed orders show their items. */
  listItems?: boolean | undefined;
  /** Largest request body of the API, in bytes. */
  bodyLimit?: number | undefined;
  /** Told of everything that happens. */
  onEvent?: ((event: SandboxEvent) => void) | undefined;
  /** Told of each call that could not be answered as it should. */
  onCrash?: ((error: Error) => void) | undefined;
};

/** The options with every default in its place. */
export type SandboxSettings = {
  [Name in Exclude<keyof SandboxOptions, 'port' | 'authPort' | 'faults' | 'record' | 'onEvent' | 'onCrash'>]-?: Exclude<
    SandboxOptions[Name],
    undefined
  >;
};

/** Fills in what was left open; what the fault file says of list and tokens yields to an explicit option. */
export function settingsOf(options: SandboxOptions): SandboxSettings {
  return {
    environment: options.environment,
    host: options.host ?? '127.0.0.1',
    tokenPath: options.tokenPath ?? '/oauth2/token',
    clientId: options.clientId,
    clientSecret: options.clientSecret,
    scopes: options.scopes ?? SCOPES,
    data: options.data,
    allowIp: options.allowIp ?? [],
    onDuplicate: options.onDuplicate ?? 'accept',
    tokenLifetime: options.tokenLifetime ?? options.faults?.tokenLifetime ?? 3600,
    listShape: options.listShape ?? options.faults?.listShape ?? 'object',
    listItems: options.listItems ?? options.faults?.listItems ?? true,
    bodyLimit: options.bodyLimit ?? 1024 * 1024,
  };
}

/** The three calls that the specification shows, and everything else. */
export type Operation = 'create' | 'list' | 'token' | 'other';

/** What happens in a sandbox; `at` in milliseconds since 1970. */
export type SandboxEvent =
  /** A create call whose body was read; `order` is "" when it names none. */
  | { type: 'received'; at: number; order: string }
  /** An order is durable. */
  | { type: 'stored'; at: number; order: string }
  /** A call is over; `status` 0 when the connection was dropped instead. */
  | { type: 'answered'; at: number; durationMs: number; on: Operation; method: string; path: string; status: number }
  /** The token endpoint's verdict: `issued`, or the error of RFC 6749 part 5.2. */
  | { type: 'token'; at: number; outcome: string }
  | { type: 'fault'; at: number; on: Operation; kind: FaultKind; order: string }
  /** A bug or a failing disk; the caller got a 500. */
  | { type: 'crashed'; at: number; error: Error };

export type Tell = (event: SandboxEvent) => void;
