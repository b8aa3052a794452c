import type { FaultFile, FaultKind } from './faults/fault-file.ts';
import type { NewOrder } from './order-store.ts';

/** The scopes of API part 5; `admin` includes the other two. */
export const SCOPES = ['read', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** The two spellings of the token path in the specification (API part 5). */
export const TOKEN_PATHS = ['/oauth2/token', '/oauth/token'] as const;
export type TokenPath = (typeof TOKEN_PATHS)[number];

/** Credentials, and the scopes that they may request. */
export type Client = { id: string; secret: string; scopes: readonly Scope[] };

export const CLIENT_AUTHS = ['form', 'basic', 'both'] as const;
export type ClientAuth = (typeof CLIENT_AUTHS)[number];

/** The options of one environment of the reference API. */
export type SandboxOptions = {
  /** Letters, digits, `-` and `_`; also the name of the data files and the realm of bearer challenges. */
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
  /** More clients, besides the one above. */
  clients?: readonly Client[] | undefined;
  /** Where the token endpoint accepts credentials: in the form (API part 5), in a Basic header (RFC 6749), or in either. */
  clientAuth?: ClientAuth | undefined;
  /** Whether a missing or wider Accept or Content-Type is refused (API part 5, rule 4) or accepted. */
  headers?: 'strict' | 'lenient' | undefined;
  /** Folder of the environment's SQLite files; created when missing. */
  data: string;
  /** CIDR ranges or addresses that may call; every address when empty. */
  allowIp?: readonly string[] | undefined;
  /** Whether a repeated number creates another order or gets a 409. */
  onDuplicate?: 'accept' | 'refuse' | undefined;
  /** The status of that refusal. */
  duplicateStatus?: 409 | 400 | undefined;
  /** The status of a creation. */
  createdStatus?: 201 | 200 | undefined;
  /** Longest order number and article code, in characters (code points). */
  textLimit?: number | undefined;
  /** Whether a number or article code of spaces alone is accepted. */
  blankText?: 'accept' | 'refuse' | undefined;
  unknownFields?: 'ignore' | 'refuse' | undefined;
  /** Whether fractions of a quantity are accepted. */
  quantity?: 'number' | 'integer' | undefined;
  faults?: FaultFile | undefined;
  /** Serves `GET /rehearsal` on the auth address. */
  record?: boolean | undefined;
  /** Seconds; 3600 as in API part 8. */
  tokenLifetime?: number | undefined;
  /** Whether `data` of the list is the array itself or an object that contains it. */
  listShape?: 'array' | 'object' | undefined;
  /** The field of that object. */
  listKey?: string | undefined;
  /** Whether listed orders show their items. */
  listItems?: boolean | undefined;
  /** The state that the list shows for every order. */
  listedState?: string | undefined;
  /** Largest request body of the API, in bytes. */
  bodyLimit?: number | undefined;
  /** The origin that browsers may call from, or `*`; without it no answer has CORS headers. */
  cors?: string | undefined;
  /** Serves https with this certificate and private key, both PEM. */
  tls?: { cert: string; key: string } | undefined;
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
  /** Receives every answered call; cheaper than `onEvent`. */
  onCall?: ((call: AnsweredCall) => void) | undefined;
  /** Receives the error of each call that got a 500. */
  onCrash?: ((error: Error) => void) | undefined;
};

/** The default of `textLimit`; see docs/decisions/sandbox.md. */
export const TEXT_LIMIT = 256;

/** The options with all defaults applied. */
export type SandboxSettings = {
  [Name in Exclude<keyof SandboxOptions, NotSettings>]-?: Exclude<SandboxOptions[Name], undefined>;
};
type NotSettings =
  | 'port'
  | 'authPort'
  | 'clientId'
  | 'clientSecret'
  | 'scopes'
  | 'memory'
  | 'reset'
  | 'tls'
  | 'publicUrl'
  | 'seed'
  | 'faults'
  | 'record'
  | 'onEvent'
  | 'onCall'
  | 'onCrash';

/** One answered call; `status` is 0 if the connection was dropped, `reason` is "" for a success without a remark. */
export type AnsweredCall = {
  method: string;
  path: string;
  status: number;
  durationMs: number;
  reason: string;
};

/** Applies the defaults; an explicit option takes precedence over the fault file. */
export function settingsOf(options: SandboxOptions): SandboxSettings {
  return {
    environment: options.environment,
    host: options.host ?? '127.0.0.1',
    tokenPath: options.tokenPath ?? '/oauth2/token',
    clients: [
      { id: options.clientId, secret: options.clientSecret, scopes: options.scopes ?? SCOPES },
      ...(options.clients ?? []),
    ],
    clientAuth: options.clientAuth ?? 'both',
    headers: options.headers ?? 'strict',
    data: options.data,
    allowIp: options.allowIp ?? [],
    onDuplicate: options.onDuplicate ?? 'accept',
    duplicateStatus: options.duplicateStatus ?? 409,
    createdStatus: options.createdStatus ?? 201,
    textLimit: options.textLimit ?? TEXT_LIMIT,
    blankText: options.blankText ?? 'accept',
    unknownFields: options.unknownFields ?? 'ignore',
    quantity: options.quantity ?? 'number',
    tokenLifetime: options.tokenLifetime ?? options.faults?.tokenLifetime ?? 3600,
    listShape: options.listShape ?? options.faults?.listShape ?? 'object',
    listKey: options.listKey ?? 'purchaseOrders',
    listItems: options.listItems ?? options.faults?.listItems ?? true,
    listedState: options.listedState ?? 'NEW',
    bodyLimit: options.bodyLimit ?? 1024 * 1024,
    cors: options.cors ?? '',
  };
}

/** The three specified operations, and everything else. */
export type Operation = 'create' | 'list' | 'token' | 'other';

/** An event in a sandbox; `at` in milliseconds since 1970. */
export type SandboxEvent =
  /** The body of a create call was read; `order` is "" when it contains no number. */
  | { type: 'received'; at: number; order: string }
  /** An order is on disk. */
  | { type: 'stored'; at: number; order: string }
  /** A call ended; `status` is 0 if the connection was dropped. */
  | {
      type: 'answered';
      at: number;
      durationMs: number;
      on: Operation;
      method: string;
      path: string;
      status: number;
    }
  /** The token endpoint's outcome: `issued`, or an error of RFC 6749 section 5.2. */
  | { type: 'token'; at: number; outcome: string }
  | { type: 'fault'; at: number; on: Operation; kind: FaultKind; order: string }
  /** A bug or a disk failure; the caller got a 500. */
  | { type: 'crashed'; at: number; error: Error };

export type Emit = (event: SandboxEvent) => void;
