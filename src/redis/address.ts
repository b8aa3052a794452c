import type { RedisOptions } from 'ioredis';
import { passwordsIn, withoutCredentials } from '../config/problem.ts';
import type { RedisSecrets } from '../config/secrets.ts';
import { codeOf } from '../core/errors.ts';
import type { Tls } from '../core/tls-files.ts';
import { createRedaction } from '../log/redaction.ts';
import { connectorTo, findBySentinels, findInCluster, type RedisNode } from './find-primary.ts';

/** Where Redis is: `url`, or `sentinels` and the name of their `master`, or nodes of a `cluster`. Nodes are `host:port`. */
export type RedisAddress = {
  url?: string;
  sentinels?: readonly string[];
  master?: string;
  cluster?: readonly string[];
};

/** A Redis and how to log in there, where the address does not say it. */
export type RedisPlace = { address: RedisAddress; credentials?: RedisSecrets | undefined };

/** Options of ioredis, with replies as BullMQ expects them. */
export type PlaceOptions = Omit<RedisOptions, 'replyMapping'>;

/**
 * The options with which ioredis reaches a place. `key`: any key of the environment; it selects the node of a cluster.
 */
export function optionsFor({ address, credentials = {} }: RedisPlace, key: string): PlaceOptions {
  const { url, sentinels, master = '', cluster } = address;
  const { tls } = credentials;
  const login = {
    ...(credentials.username !== undefined && { username: credentials.username }),
    ...(credentials.password && { password: credentials.password.reveal() }),
    ...(tls && { tls }),
  };
  if (sentinels) {
    const { sentinelPassword } = credentials;
    const find = findBySentinels(sentinels.map(nodeOf), master, {
      ...(sentinelPassword && { password: sentinelPassword.reveal() }),
      ...(tls && { tls }),
    });
    return { ...login, Connector: connectorTo(find, tls) };
  }
  if (cluster)
    return {
      ...login,
      Connector: connectorTo(findInCluster(cluster.map(nodeOf), key, login), tls),
    };
  return url?.startsWith('unix:') ? { ...socketOf(url), ...login } : login;
}

/** `unix:///run/redis.sock?db=2` */
function socketOf(url: string): PlaceOptions {
  const { pathname, searchParams } = new URL(url);
  return { path: decodeURIComponent(pathname), db: Number(searchParams.get('db') ?? 0) };
}

/** `host:port`, an IPv6 host in brackets. */
function nodeOf(text: string): RedisNode {
  const { hostname, port } = new URL(`redis://${text}`);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
}

/** The place as a person knows it, without credentials. */
export function placeText({ url, sentinels, master, cluster }: RedisAddress): string {
  if (sentinels) return `${master} (Sentinels ${sentinels.join(', ')})`;
  if (cluster) return `the cluster ${cluster.join(', ')}`;
  return isPrivateSocket(url) ? String(url?.split('?')[0]) : withoutCredentials(url ?? '');
}

/** Only the private Redis has the path of a socket as its address. */
function isPrivateSocket(url = ''): boolean {
  return url.startsWith('/');
}

/** Removes the passwords from messages of Redis: a proxy may repeat the command that it refuses. */
export function withoutPasswords({ address, credentials }: RedisPlace): (error: Error) => Error {
  const redaction = createRedaction();
  for (const password of passwordsIn(address.url ?? '')) redaction.hideSecret(password);
  for (const one of [credentials?.password, credentials?.sentinelPassword])
    redaction.hideSecret(one?.reveal() ?? '');
  return (error) => {
    const message = redaction.redact(error.message);
    return message === error.message ? error : new Error(message);
  };
}

const CERTIFICATE =
  'A server that requires a client certificate needs redis.tls.certFile and redis.tls.keyFile.';

/** Of a server that accepts a connection and says nothing. */
export const NO_ANSWER = 'no answer';

/** What to do when nothing answers at the address. */
export function startRemedy(
  { url, sentinels }: RedisAddress,
  cause: Error,
  tls: Tls | undefined,
): string {
  if (codeOf(cause) === 'redis-master-unknown')
    return 'Set redis.master to the name in `sentinel monitor`.';
  if (isPrivateSocket(url))
    return 'It is the private Redis: a daemon starts it again as soon as it can, and says in its log what prevents that.';
  const key = url === undefined ? (sentinels ? 'sentinels' : 'cluster') : 'url';
  const start = `Start Redis, or wait while it loads its data; or correct redis.${key}.`;
  // A refused certificate may show only as a connection that was reset.
  if (url?.startsWith('rediss:') || (tls && !tls.hasCertificate)) return `${start} ${CERTIFICATE}`;
  return start;
}
