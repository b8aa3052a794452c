import type { ConnectionOptions } from 'node:tls';
import type { RedisOptions } from 'ioredis';
import { withoutCredentials } from '../config/problem.ts';
import type { RedisSecrets } from '../config/secrets.ts';
import type { Tls } from '../core/tls-files.ts';
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
  const tls = credentials.tls && connectionTls(credentials.tls);
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
  if (cluster) return { ...login, Connector: connectorTo(findInCluster(cluster.map(nodeOf), key, login), tls) };
  return url?.startsWith('unix:') ? { ...socketOf(url), ...login } : login;
}

/** Options that are read again for each connection, so that replaced certificates apply to the next one. */
function connectionTls(tls: Tls): ConnectionOptions {
  const { servername } = tls.options();
  return {
    get secureContext() {
      return tls.options().secureContext;
    },
    ...(servername !== undefined && { servername }),
  };
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
  return withoutCredentials(url ?? '');
}
