import { PoSyncError } from '../core/errors.ts';
import type { Route } from '../core/pool.ts';
import { openTls, type Tls, type TlsSettings } from '../core/tls-files.ts';
import type { ProxyServer } from '../core/tunnel.ts';
import { type Config, type ExportSource, environmentOf, type Notice } from './config.ts';
import { isLoopback, type TlsKeys } from './fields.ts';
import { readSecret, Secret, type SecretReader, secretFilesFrom } from './secret.ts';
import { readPair } from './secrets.ts';
import { type Variables, variable, variablePrefix } from './variables.ts';

/** The connections to everything that a daemon of one environment calls. */
export type Network = {
  /** To the API and the token endpoint. */
  api: Route;
  toSource(source: ExportSource): Route;
  toNotice(notice: Pick<Notice, 'tls'>): Route;
  /** The proxy to an address, for `doctor`. */
  proxyTo(origin: URL): ProxyServer | undefined;
  /** What the log must not show. */
  secrets: readonly Secret[];
};

/** Directly to everything, with the public certificate authorities. */
export const DIRECT: Network = {
  api: {},
  toSource: () => ({}),
  toNotice: () => ({}),
  proxyTo: () => undefined,
  secrets: [],
};

/**
 * Reads how the daemon reaches other machines: the proxy of `proxy` or of the usual variables, its credentials
 * (`PO_SYNC_<ENVIRONMENT>_PROXY_USER` and `_PROXY_PASSWORD`, each also as `…_FILE`), and the files and passphrases of TLS.
 * Throws PoSyncError `proxy-invalid`, `secret-…` or `tls-file-…`.
 */
export async function loadNetwork(
  config: Config,
  env: Variables,
  read: SecretReader = secretFilesFrom('.'),
): Promise<Network> {
  const secrets: Secret[] = [];
  const kept = (secret: string | undefined) => {
    if (secret !== undefined) secrets.push(new Secret(secret));
    return secret;
  };
  const tlsOf = async (settings: TlsKeys | undefined, prefix: string): Promise<Tls | undefined> =>
    settings &&
    openTls(settings as TlsSettings, kept(await readSecret(`${prefix}_TLS_PASSPHRASE`, env, read)));

  const prefix = variablePrefix(config.environment);
  const login = await readPair(`${prefix}_PROXY_`, env, read);
  const proxies = proxiesOf(environmentOf(config).proxy, env, login);
  const password = login?.slice(login.indexOf(':') + 1);
  for (const secret of [password, ...proxies.secrets]) kept(secret);
  const { proxyTo } = proxies;
  const sources = new Map<string, Tls | undefined>();
  for (const source of config.sources) {
    const tls = source.type === 'export' ? source.tls : undefined;
    if (tls) sources.set(source.name, await tlsOf(tls, variablePrefix(`SOURCE_${source.name}`)));
  }
  const notices = new Map<TlsKeys, Tls | undefined>();
  for (const { tls } of config.notify)
    if (tls) notices.set(tls, await tlsOf(tls, 'PO_SYNC_NOTIFY'));
  return {
    api: { proxyTo, tls: await tlsOf(environmentOf(config).tls, prefix) },
    toSource: ({ name }) => ({ proxyTo, tls: sources.get(name) }),
    toNotice: ({ tls }) => ({ proxyTo, tls: tls && notices.get(tls) }),
    proxyTo,
    secrets,
  };
}

/** The proxy of each protocol, and what is reached without one. */
function proxiesOf(setting: string | undefined, env: Variables, credentials: string | undefined) {
  const given = (name: string) => variable(env, name.toLowerCase()) ?? variable(env, name);
  const secrets: string[] = [];
  const server = (text: string | undefined, from: string): ProxyServer | undefined => {
    if (text === undefined || setting === 'none') return undefined;
    const url = proxyUrl(text, from);
    const own = url.username === '' ? undefined : `${plain(url.username)}:${plain(url.password)}`;
    if (url.password !== '') secrets.push(plain(url.password));
    url.username = '';
    url.password = '';
    const basic = credentials ?? own;
    if (basic === undefined) return { url };
    const authorization = `Basic ${Buffer.from(basic).toString('base64')}`;
    secrets.push(authorization.slice('Basic '.length));
    return { url, authorization };
  };
  const https = server(
    setting ?? given('HTTPS_PROXY'),
    setting === undefined ? 'HTTPS_PROXY' : 'proxy',
  );
  const http = server(
    setting ?? given('HTTP_PROXY'),
    setting === undefined ? 'HTTP_PROXY' : 'proxy',
  );
  const isDirect = exemption(given('NO_PROXY') ?? '');
  const proxyTo = (origin: URL) => {
    if (isLoopback(origin.hostname) || isDirect(origin)) return undefined;
    return origin.protocol === 'https:' ? https : http;
  };
  return { proxyTo, secrets };
}

function plain(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** A variable may leave out `http://`. Never repeats the text, which can contain a password. */
function proxyUrl(text: string, from: string): URL {
  const full = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new PoSyncError('proxy-invalid', `${from} is not the address of an HTTP proxy.`, {
    remedy:
      'Set it to an address such as http://proxy.example.com:3128, or set proxy: none for the environment.',
  });
}

/**
 * Whether NO_PROXY exempts an address: `*`, a host with the hosts below it (with or without a dot before it), each
 * also with a port, or an IP address.
 */
function exemption(list: string): (origin: URL) => boolean {
  const entries = list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '');
  return ({ hostname, port, protocol }) => {
    const host = hostname.replace(/^\[|\]$/g, '');
    const ownPort = port || (protocol === 'https:' ? '443' : '80');
    return entries.some((entry) => {
      const [, name = entry, wanted = ownPort] = /^([^:]+|\[.+\]):(\d+)$/.exec(entry) ?? [];
      const bare = name.replace(/^\[|\]$/g, '').replace(/^\*?\./, '');
      return wanted === ownPort && (bare === '*' || host === bare || host.endsWith(`.${bare}`));
    });
  };
}
