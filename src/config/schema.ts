import { z } from 'zod';
import { ORDERS_PATH } from '../order/order.ts';
import {
  address,
  addressFault,
  headerName,
  headerValue,
  line,
  name,
  normalAddress,
  proxy,
  share,
  span,
  tls,
  tracingSchema,
  wait,
  whole,
} from './fields.ts';
import { mappingSchema } from './mapping-schema.ts';
import { type KeyPath, shown } from './problem.ts';
import { sourceSchema } from './source-schema.ts';

/** The API's address, without the paths that po-sync adds. */
const baseUrl = address.refine((text) => !text.toLowerCase().endsWith(ORDERS_PATH), {
  error: `must end with the path prefix, such as /api/v1: po-sync adds ${ORDERS_PATH} itself`,
});

/** The authentication host, without the token path. */
const authUrl = address.refine((text) => !/\/oauth2?\/token$/i.test(text), {
  error: 'must be the address without the token path: set the path with token.path',
});

/** How a token is requested. A text in its place may be a secret, so that no message repeats it. */
const token = z.strictObject(
  {
    path: z
      .enum(['/oauth2/token', '/oauth/token', 'auto'])
      .prefault('auto')
      .describe('auto tries both and remembers the one that issues a token.'),
    scope: line.exactOptional().describe('Space-separated scope names, such as "read write".'),
    clientAuth: z
      .enum(['form', 'basic'])
      .prefault('form')
      .describe('How the credentials are sent: as form fields, or as HTTP Basic authentication.'),
    audience: line.exactOptional().describe('The form field audience.'),
    resource: line.exactOptional().describe('The form field resource.'),
  },
  {
    error: ({ code }) =>
      code === 'invalid_type' ? 'expected keys and values, such as path: auto' : undefined,
  },
);

/** YAML reads 0042 as the number 42: what a number was meant to be is not known. */
const headers = z.record(
  headerName,
  z.union([headerValue, z.strictObject({ file: line })], {
    error: 'must be text in quotes, such as "0042", or a file, such as { file: /etc/po-sync/key }',
  }),
);

/** What never concerns one order: the token, a proxy, an answer that is missing, and what makes every order wait. */
const NOT_OF_ORDER = [401, 407, 408, 429, 502, 503, 504];

function statusList(never: readonly number[], meaning: string) {
  const wanted = whole(400, 599).refine((status) => !never.includes(status), {
    error: ({ input }) => `${shown(input)} cannot be listed: its meaning is fixed`,
  });
  return z.array(wanted).prefault([]).describe(meaning);
}

const statuses = z
  .strictObject({
    refuse: statusList(NOT_OF_ORDER, 'A final no about the order.'),
    retry: statusList(
      [400, ...NOT_OF_ORDER],
      'The order was not created; it is tried again later, as an attempt that counts.',
    ),
  })
  .superRefine(({ refuse, retry }, context) => {
    const both = retry.filter((status) => refuse.includes(status));
    if (both.length === 0) return;
    const message = `${both.join(', ')} cannot be in refuse and in retry`;
    context.addIssue({ code: 'custom', message, path: ['retry'] });
  });

/** One environment of the API (API part 5). */
export const environmentSchema = z.strictObject({
  protected: z
    .boolean()
    .prefault(false)
    .describe('Requires --confirm NAME or PO_SYNC_CONFIRM=NAME before anything is sent.'),
  baseUrl: baseUrl.describe(
    'API address with its path prefix, such as /api/v1. The ledger is for one address: see --same-api and --new-ledger.',
  ),
  authUrl: authUrl.describe('Address of the authentication host, without the token path.'),
  plainHttp: z
    .boolean()
    .exactOptional()
    .describe(
      'Allows http to another host, such as the sandbox in another container. Never for a real environment.',
    ),
  token: token.prefault({}),
  headers: headers
    .exactOptional()
    .describe('Further headers of the calls to the API. Their values are secrets.'),
  idempotencyKey: z
    .strictObject({
      header: headerName.describe('The header, such as Idempotency-Key.'),
      valid: span().describe('How long the API remembers a key after it first received it.'),
    })
    .exactOptional()
    .describe('For an API that creates nothing twice under the same key.'),
  statuses: statuses
    .exactOptional()
    .describe('What statuses of answers with a complete error envelope mean at this API.'),
  list: z
    .enum(['prove', 'trust', 'none'])
    .prefault('prove')
    .describe(
      "prove: the API's list is used as proof only once it is shown to be complete. trust: it always is. none: the API has no list.",
    ),
  numbers: z
    .enum(['canonical', 'exact'])
    .prefault('canonical')
    .describe(
      'canonical: order numbers are compared without case, white space and zeros that begin a group of digits. exact: as they are written.',
    ),
  rateLimit: z
    .strictObject({
      max: whole(1, 1_000_000).describe('Maximum number of calls in the period.'),
      per: wait(1, 3_600_000).prefault('1s').describe('The period.'),
    })
    .exactOptional()
    .describe('Shared by all daemons.'),
  proxy: proxy
    .exactOptional()
    .describe(
      'An HTTP proxy for everything outside this machine, or none. Default: HTTPS_PROXY, HTTP_PROXY.',
    ),
  tls,
});

/** A Redis address. Messages never repeat it, because it can contain a password. */
export const redisUrl = z
  .string()
  .refine((text) => URL.canParse(text) && REDIS_URL_FORM.test(text), {
    error:
      'must be an address such as redis://127.0.0.1:6379/0, rediss:// for TLS, or unix:///run/redis.sock',
  });

const REDIS_URL_FORM = /^(rediss?:\/\/[^\s/?#]+(\/[0-9]*)?|unix:\/\/\/[^\s?#]+(\?db=[0-9]+)?)$/;

/** A server of Sentinel or Cluster. */
const redisNode = z.string().regex(/^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}$/, {
  error: 'must be host:port, such as redis-1.example.com:26379',
});
const redisNodes = z
  .array(redisNode)
  .min(1, { error: 'must name at least one server, as host:port' });

const redisSchema = z
  .strictObject({
    url: redisUrl
      .exactOptional()
      .describe(
        'One server. Without url, sentinels and cluster, po-sync starts a private redis-server with its data below `data`.',
      ),
    sentinels: redisNodes.exactOptional().describe('Sentinels as host:port, instead of url.'),
    master: line.exactOptional().describe('The name of the primary that the Sentinels monitor.'),
    cluster: redisNodes
      .exactOptional()
      .describe('Some nodes of a Redis Cluster as host:port, instead of url.'),
    tls,
  })
  .superRefine(({ url, sentinels, master, cluster, tls: keys }, context) => {
    if (keys && url !== undefined && !url.startsWith('rediss:')) {
      context.addIssue({
        code: 'custom',
        message: 'needs an address that begins with rediss://',
        path: ['tls'],
      });
    }
    const given = Object.entries({ url, sentinels, cluster }).filter(
      ([, value]) => value !== undefined,
    );
    if (given.length > 1) {
      const message = `${given.map(([key]) => key).join(' and ')} exclude each other: keep one of them`;
      context.addIssue({ code: 'custom', message, path: [given[1]?.[0] ?? 'url'] });
    }
    if (sentinels && master === undefined) {
      const message = 'needs master, the name of the primary that the Sentinels monitor';
      context.addIssue({ code: 'custom', message, path: ['sentinels'] });
    }
    if (master !== undefined && !sentinels) {
      context.addIssue({ code: 'custom', message: 'only belongs to sentinels', path: ['master'] });
    }
  });

/** A TCP port; 0 takes any free one. */
export const port = whole(0, 65_535);

/** The origin of a proxy. Browsers keep sessions only for https and for this machine. */
const publicUrl = line
  .superRefine((text, context) => {
    const fault =
      addressFault(text) ?? (new URL(text).pathname === '/' ? undefined : 'must not have a path');
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault, continue: false });
  })
  .overwrite(normalAddress);

const webhook = line.superRefine((text, context) => {
  const fault = addressFault(text, { query: true });
  if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
});

const notice = z
  .strictObject({
    on: z
      .array(z.enum(['attention', 'paused', 'silent']))
      .min(1, { error: 'must name at least one of attention, paused, silent' })
      .describe(
        'attention: a batch needs a person. paused: delivery pauses or resumes. silent: see expectEvery.',
      ),
    webhook: webhook
      .exactOptional()
      .describe('An https address that receives a JSON document by POST.'),
    tls,
    command: z
      .array(line)
      .min(1, { error: 'must name a program' })
      .exactOptional()
      .describe('A program and its arguments, run without a shell.'),
  })
  .refine((given) => given.webhook !== undefined || given.command !== undefined, {
    error: 'must have a webhook or a command',
  });

const delivery = z.strictObject({
  concurrency: whole(1, 1_000).prefault(8).describe('Calls in flight, of each daemon.'),
  timeout: wait(10, 600_000)
    .prefault('30s')
    .describe('Timeout of one call, from the first byte to the last.'),
  attempts: whole(1, 1_000).prefault(12).describe('Counted attempts of one order before it fails.'),
  backoff: z
    .strictObject({ initial: wait(10).prefault('2s'), max: wait(10).prefault('10m') })
    .prefault({})
    .describe('Waits between two attempts of one order.'),
  settle: wait(10, 86_400_000)
    .prefault('60s')
    .describe(
      "Wait after an attempt with unknown outcome, before the API's list is asked. Longer than the API can take to store an order.",
    ),
  probe: z
    .strictObject({ initial: wait(10).prefault('5s'), max: wait(10).prefault('5m') })
    .prefault({})
    .describe('While delivery is paused by a failure: waits between attempts of one order.'),
  onDoubt: z
    .enum(['verify', 'hold'])
    .prefault('verify')
    .describe("verify asks the API's list; hold leaves it to a person."),
  readList: z
    .union([z.literal('newLedger'), wait(10)])
    .prefault('newLedger')
    .describe(
      "newLedger reads the API's list into a new ledger only; with a duration such as 5m the list in the ledger is at most that old (since its read ended) when orders are admitted. Choose one longer than a read takes.",
    ),
  refusalHold: z
    .strictObject({ share: share.prefault('50%'), of: whole(1, 10_000).prefault(40) })
    .prefault({})
    .describe('A file waits when `share` of its last `of` answers are the same refusal.'),
});

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/**
 * The configuration file, with every key, check and default. `rules/` checks relations between keys, `load.ts`
 * makes paths absolute.
 */
export const configSchema = z.strictObject({
  environment: name
    .exactOptional()
    .describe(
      'The environment to deliver to, unless --environment or PO_SYNC_ENVIRONMENT names one.',
    ),
  data: line
    .prefault('../data')
    .describe('Everything that must survive a restart: private Redis, spool, sandbox.'),
  redis: redisSchema.prefault({}),
  environments: z.record(name, environmentSchema).refine((all) => Object.keys(all).length > 0, {
    error: 'must contain at least one environment',
  }),
  sources: z.array(sourceSchema).min(1, { error: 'must contain at least one source' }),
  mappings: z.record(name, mappingSchema).prefault({}),
  reports: z
    .strictObject({
      path: line.prefault('../reports').describe('Contains one folder for each batch.'),
      keep: span().prefault('90d').describe('Applies to reports, done/ and failed/.'),
    })
    .prefault({}),
  ledger: z
    .strictObject({
      keep: z
        .union([z.literal('forever'), span()], {
          error: 'expected forever, or a duration such as 730d',
        })
        .prefault('forever')
        .describe('How long a settled order is kept after a source last contained its number.'),
    })
    .prefault({}),
  notify: z.array(notice).prefault([]),
  delivery: delivery.prefault({}),
  admin: z
    .strictObject({
      host: line
        .prefault('127.0.0.1')
        .describe('Addresses other than loopback require PO_SYNC_ADMIN_TOKEN.'),
      port: port.prefault(9464).describe('0 takes any free port.'),
      publicUrl: publicUrl
        .exactOptional()
        .describe('The public address of the dashboard behind a proxy, without a path.'),
    })
    .prefault({})
    .describe('Health, metrics, control API and dashboard.'),
  tracing: tracingSchema,
  log: z.strictObject({ level: z.enum(LEVELS).prefault('info') }).prefault({}),
});

/** The file as read: defaults filled in, durations in milliseconds, shares as fractions, paths as written. */
export type Settings = z.output<typeof configSchema>;

/** The configuration file's JSON Schema (draft 2020-12), for editors and generators. */
export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(configSchema, { io: 'input' });
  return { $schema, title: 'po-sync configuration', ...rest };
}

/** The valid keys at a path of the file; empty where any name is valid or nothing is known. */
export function keysAt(schema: unknown, path: KeyPath): string[] {
  const found = path.reduce<unknown[]>(
    (places, segment) => places.flatMap((place) => stepInto(place, segment)),
    [schema],
  );
  return [
    ...new Set(
      found
        .flatMap(alternatives)
        .flatMap((place) => Object.keys(record(record(place)['properties']))),
    ),
  ];
}

function stepInto(place: unknown, segment: string | number): unknown[] {
  return alternatives(place).flatMap((option) => {
    const { properties, additionalProperties, items } = record(option);
    if (typeof segment === 'number') return items === undefined ? [] : [items];
    const property = record(properties)[segment] ?? additionalProperties;
    return typeof property === 'object' ? [property] : [];
  });
}

function alternatives(place: unknown): unknown[] {
  const { oneOf, anyOf } = record(place);
  const options = oneOf ?? anyOf;
  return Array.isArray(options) ? options : [place];
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
