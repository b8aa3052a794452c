import { z } from 'zod';
import { WITHOUT_CONTROLS } from '../order/text.ts';
import { shown } from './problem.ts';

/** The notation of a duration: a whole number and a unit, without a space. */
const DURATION = /^[0-9]{1,9}(ms|s|m|h|d)$/;

const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
];

/** Milliseconds of `250ms`, `30s`, `5m`, `1h` or `90d`; undefined for other texts. */
export function parseDuration(text: string): number | undefined {
  const unit = DURATION.exec(text)?.[1];
  const factor = UNITS.find(([name]) => name === unit)?.[1];
  return factor === undefined ? undefined : Number.parseInt(text, 10) * factor;
}

/** Milliseconds in the largest unit that divides them; `parseDuration` reads the result back. */
export function formatDuration(ms: number): string {
  const [unit, factor] = UNITS.find(([, size]) => ms > 0 && ms % size === 0) ?? ['ms', 1];
  return `${ms / factor}${unit}`;
}

/** The longest wait of a Node timer, a little under 25 days; a longer one fires at once. */
const LONGEST_WAIT = 24 * 86_400_000;
const LONGEST_SPAN = 36_500 * 86_400_000;

function expected(what: string) {
  return { error: (issue: { input?: unknown }) => `expected ${what}, found ${shown(issue.input)}` };
}

const aDuration = expected('a duration such as 250ms, 30s, 5m, 1h or 90d');

const durationText = z
  .string(aDuration)
  .regex(DURATION, aDuration)
  .meta({ id: 'duration', description: 'A whole number with its unit: 250ms, 30s, 5m, 1h, 90d.' });

/** Schema of a waiting time, in milliseconds. */
export function wait(least = 1, most = LONGEST_WAIT) {
  return z.codec(durationText, z.number(), {
    decode(text, context) {
      const ms = parseDuration(text);
      if (ms !== undefined && ms >= least && ms <= most) return ms;
      const message = `must be between ${formatDuration(least)} and ${formatDuration(most)}, found ${text}`;
      context.issues.push({ code: 'custom', message, input: text });
      return z.NEVER;
    },
    encode: formatDuration,
  });
}

/** Schema of a period of days or years, in milliseconds. */
export function span() {
  return wait(1_000, LONGEST_SPAN);
}

const aShare = expected('a share such as 50%');

/** A share above 0% and up to 100%, as a fraction: `50%` is 0.5. */
export const share = z.codec(
  z.string(aShare).regex(/^[0-9]{1,3}(\.[0-9]{1,3})?%$/, aShare),
  z.number(),
  {
    decode(text, context) {
      const part = Number.parseFloat(text) / 100;
      if (part > 0 && part <= 1) return part;
      const message = `must be above 0% and at most 100%, found ${text}`;
      context.issues.push({ code: 'custom', message, input: text });
      return z.NEVER;
    },
    // Three decimals, as a file may have them; more would be rounding noise.
    encode: (part) => `${Number((part * 100).toFixed(3))}%`,
  },
);

/** Schema of a whole number within limits. */
export function whole(least: number, most: number) {
  const wanted = expected(`a whole number from ${least} to ${most}`);
  return z.number(wanted).int(wanted).min(least, wanted).max(most, wanted);
}

/** A name that is safe in file names, keys and variables. */
export const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/, {
  error: (issue) =>
    `${shown(issue.input)} must be a name of letters, digits, - and _, with at most 63 characters, starting with a letter or digit`,
});

/** One line of text that is not empty: a name, or a local path as written, which `load.ts` makes absolute. */
export const line = z
  .string()
  .min(1, { error: 'must not be empty' })
  .max(4096, { error: 'must not be longer than 4096 characters' })
  .regex(WITHOUT_CONTROLS, { error: 'must not contain control characters' });

/** What po-sync sends itself, what belongs to one connection (RFC 9110 7.6.1), and what changes how an answer is read. */
const FIXED_HEADERS =
  /^(?:authorization|content-(?:type|length|encoding)|accept(?:-encoding)?|user-agent|host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|proxy-.*)$/i;

/** The name of a further header of the calls to the API. */
export const headerName = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/, {
    error: ({ input }) => `${shown(input)} is not the name of an HTTP header`,
  })
  .refine((text) => !FIXED_HEADERS.test(text), {
    error: ({ input }) => `${String(input)} is set by po-sync or by the connection`,
  });

/** The value of a header; no message repeats it. */
export const headerValue = z
  .string()
  .max(8192, { error: 'must not be longer than 8192 characters' })
  .regex(/^[!-~](?:[\t -~]*[!-~])?$/, {
    error: 'must be printable ASCII text without spaces at its ends',
  });

/** An address of an environment, normalized; `environmentRule` decides whether it may be http. */
export const address = line
  .superRefine((text, context) => {
    const fault = addressFault(text, { plainHttp: true });
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault, continue: false });
  })
  .overwrite(normalAddress);

const tlsKeys = z
  .strictObject({
    caFile: line
      .exactOptional()
      .describe('PEM file of the certificate authorities to trust, instead of the public ones.'),
    certFile: line
      .exactOptional()
      .describe('PEM file of the client certificate, with its intermediate certificates.'),
    keyFile: line
      .exactOptional()
      .describe('PEM file of its private key. Its passphrase is an environment variable.'),
    minVersion: z
      .enum(['TLSv1.2', 'TLSv1.3'])
      .exactOptional()
      .describe('The lowest TLS version. Default: TLSv1.2.'),
    serverName: line
      .exactOptional()
      .describe('The name in the certificate of the server, if it is not the host.'),
  })
  .refine(({ certFile, keyFile }) => (certFile === undefined) === (keyFile === undefined), {
    error: 'must have certFile and keyFile, or neither',
  });

/** How TLS is spoken to a server. */
export type TlsKeys = z.output<typeof tlsKeys>;

export const tls = tlsKeys
  .exactOptional()
  .describe('TLS: private certificate authorities, a client certificate, the lowest version.');

/** An HTTP proxy without credentials, or `none`. */
export const proxy = line.superRefine((text, context) => {
  const fault = text === 'none' ? undefined : proxyFault(text);
  if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
});

function proxyFault(text: string): string | undefined {
  const fault = addressFault(text, { plainHttp: true });
  if (fault?.startsWith('must be'))
    return 'must be none, or an address such as http://proxy.example.com:3128';
  return fault ?? (new URL(text).pathname === '/' ? undefined : 'must not have a path');
}

/** Whether a host name or IP address, with or without brackets, can only be this machine. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  return name === 'localhost' || name === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(name);
}

/** Whether an address is http to another machine, where the network can read what is sent. */
export function isPlainHttp(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return protocol === 'http:' && !isLoopback(hostname);
}

/** What is wrong with an address that may not be http to another machine. */
export const HTTPS_ONLY =
  'must begin with https://; http:// is only for this machine: 127.0.0.1, ::1, localhost';

/**
 * What is wrong with a web address that po-sync calls, as the end of a sentence; undefined when it is valid: https, or
 * http to this machine (with `plainHttp` to any), without credentials and fragment, with a query only if `query` allows
 * it. Never repeats the address, which can contain a secret.
 */
export function addressFault(
  text: string,
  { query = false, plainHttp = false } = {},
): string | undefined {
  const url = URL.canParse(text) && !/[\s\\]/.test(text) ? new URL(text) : undefined;
  if (!url || !/^https?:\/\//i.test(text))
    return 'must be a complete address, such as https://api.example.com/api/v1';
  if (url.username !== '' || url.password !== '')
    return 'must not contain credentials (the part before @)';
  if (!plainHttp && isPlainHttp(text)) return HTTPS_ONLY;
  if (!query && text.includes('?')) return 'must not have a query (the part from ? on)';
  if (text.includes('#')) return 'must not have a fragment (the part from # on)';
  return undefined;
}

/** Normalizes an address: host in lower case, no default port, no trailing slash. */
export function normalAddress(text: string): string {
  return new URL(text).href.replace(/\/+$/, '');
}

/** `tracing` of the configuration file. */
export const tracingSchema = z
  .strictObject({
    enabled: z
      .boolean()
      .prefault(false)
      .describe('Sends spans to a collector. Requires the optional packages.'),
  })
  .prefault({})
  .describe('OpenTelemetry, one trace per order.');
