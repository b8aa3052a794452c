/**
 * The configuration as resolved: every default filled in, every path absolute, every duration in milliseconds,
 * every share a fraction. Frozen. Secrets are not part of it (see `secrets.ts`).
 */
export type Config = {
  /** The configuration file it came from, absolute. */
  file: string;
  /** Name of the chosen environment, one of the keys of `environments`. */
  environment: string;
  /** Folder for everything that must survive a restart: private Redis, spool, sandbox. */
  data: string;
  /** Without `url`: a private redis-server below `data`. */
  redis: { url?: string };
  environments: Record<string, Environment>;
  sources: Source[];
  mappings: Record<string, Mapping>;
  reports: { path: string; keep: number };
  ledger: { keep: number | 'forever' };
  notify: Notice[];
  delivery: Delivery;
  admin: { host: string; port: number };
  log: { level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent' };
};

export type Environment = {
  /** No trailing slash; ends with the API's path prefix. */
  baseUrl: string;
  /** No trailing slash. */
  authUrl: string;
  tokenPath: '/oauth2/token' | '/oauth/token' | 'auto';
  scope?: string;
  /** At most `max` calls in each `per` milliseconds, over all daemons. */
  rateLimit?: { max: number; per: number };
  protected: boolean;
};

export type Source = InboxSource | ExportSource;

type CommonSource = {
  name: string;
  /** A key of `mappings`; absent: the specification's own names. */
  mapping?: string;
  stable: number;
  poll: number;
  expectEvery?: number;
  /** `orders.csv` waits for `orders.csv.done`. */
  doneFile: boolean;
};

/** A folder whose files are ours once dropped. `path` is absolute. */
export type InboxSource = CommonSource & { type: 'inbox'; path: string };

/** A file, pattern or https address that is only read. `path` is absolute, or the address. */
export type ExportSource = CommonSource & {
  type: 'export';
  path: string;
  /** Of one download from an address: most time in all, and most without a byte. */
  timeout: number;
  idle: number;
};

export type Mapping = {
  format: 'csv' | 'json' | 'ndjson' | 'xlsx' | 'auto';
  /** One character, or auto. */
  delimiter: string;
  encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' | 'iso-8859-1' | 'auto';
  decimal: '.' | ',' | 'auto';
  fields: {
    purchaseOrderNumber: string[];
    orderState: string[];
    articleCode: string[];
    quantity: string[];
    /** JSON only: the array of lines within an order object. */
    items: string[];
  };
  defaults: { orderState?: string; articleCode?: string; quantity?: string };
  /** XLSX only: the sheet by its name; absent: the first. */
  sheet?: string;
  /** `integer` refuses fractions; `number` allows them. */
  quantity: 'integer' | 'number';
};

export type Notice = {
  on: ('attention' | 'paused' | 'silent')[];
  webhook?: string;
  command?: string[];
};

export type Delivery = {
  concurrency: number;
  timeout: number;
  attempts: number;
  backoff: { initial: number; max: number };
  settle: number;
  probe: { initial: number; max: number };
  onDoubt: 'verify' | 'hold';
  refusalHold: { share: number; of: number };
};
