import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Redis } from 'ioredis';
import { Secret } from '../../src/config/secret.ts';
import type { RedisSecrets } from '../../src/config/secrets.ts';
import { findRedisServer } from '../../src/redis/private-server/server-process.ts';
import { openAuthority } from './certificates.ts';
import { freePort } from './free-port.ts';
import { makeTempFolder } from './temp-folder.ts';
import { DOCUMENTED_USER, LOGIN, startTestRedis, type TestRedis } from './test-redis.ts';
import { until } from './until.ts';

/** Several servers of which one is the primary for all keys of an environment. */
export type RedisGroup = AsyncDisposable & {
  servers: readonly TestRedis[];
  /** `redis:` of a configuration, as YAML. */
  yaml: string;
  /** The server that takes writes for `key`, by what the others say. */
  primary(key: string): Promise<TestRedis>;
};

const PASSWORD = 'password-of-replicas';
const REPLICATES = { masteruser: 'replica', masterauth: PASSWORD };
/** Its own user, so that a test can cut replication and leave everybody else alone. */
const REPLICA_USER = `user replica on >${PASSWORD} +psync +replconf +ping`;

/** User and password, where the address has no place for them. */
export const LOGIN_SECRETS: RedisSecrets =
  LOGIN === ''
    ? {}
    : { username: DOCUMENTED_USER.username, password: new Secret(DOCUMENTED_USER.password) };

/** The same user as variables. */
export const LOGIN_VARIABLES = {
  PO_SYNC_REDIS_USERNAME: DOCUMENTED_USER.username,
  PO_SYNC_REDIS_PASSWORD: DOCUMENTED_USER.password,
};

/** From now on, what the primary confirms reaches no replica. */
export async function cutReplication(primary: TestRedis): Promise<void> {
  await using admin = connectAsAdmin(primary);
  await admin.redis.config('SET', 'min-replicas-to-write', '0');
  await admin.redis.call('ACL', 'SETUSER', 'replica', 'off');
  await admin.redis.call('CLIENT', 'KILL', 'TYPE', 'replica');
}

/** A connection with all rights. */
export function connectAsAdmin({ adminUrl }: TestRedis): AsyncDisposable & { redis: Redis } {
  const redis = new Redis(adminUrl, { maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  return { redis, [Symbol.asyncDispose]: async () => redis.disconnect() };
}

/** A private authority, a certificate for servers of this machine and one for clients. */
export async function openGroupTls(folder: string) {
  const authority = await openAuthority(folder);
  const server = await authority.issue('server', { names: ['127.0.0.1'] });
  const client = await authority.issue('client', { names: ['po-sync'] });
  return { authority, server, client };
}

export type GroupTls = Awaited<ReturnType<typeof openGroupTls>>;

/** A server of a group, and the port that others use: with TLS its second one, the plain one is only for tests. */
type Member = { server: TestRedis; shared: number };

/** Settings of a server or Sentinel that talks TLS to everybody and requires a certificate from everybody. */
async function tlsSettings(tls: GroupTls | undefined): Promise<Record<string, string | number>> {
  if (tls === undefined) return {};
  return {
    'tls-port': await freePort(),
    'tls-replication': 'yes',
    'tls-auth-clients': 'yes',
    'tls-cert-file': tls.server.cert,
    'tls-key-file': tls.server.key,
    'tls-ca-cert-file': tls.authority.caFile,
  };
}

function tlsYaml(tls: GroupTls | undefined): string {
  if (tls === undefined) return '';
  const { authority, client } = tls;
  return `, tls: { caFile: '${authority.caFile}', certFile: '${client.cert}', keyFile: '${client.key}' }`;
}

/** A primary, two replicas and three Sentinels that replace it one second after it is gone. */
export async function startSentinelGroup(tls?: GroupTls): Promise<RedisGroup> {
  await using stack = new AsyncDisposableStack();
  const start = async (more: Record<string, string>): Promise<Member> => {
    const own = await tlsSettings(tls);
    const settings = { ...REPLICATES, ...own, ...more };
    const server = stack.use(await startTestRedis({ users: [REPLICA_USER], settings }));
    return { server, shared: Number(own['tls-port'] ?? server.port) };
  };
  const primary = await start({});
  const { server: first, shared } = primary;
  const replicas = [
    await start({ replicaof: `127.0.0.1 ${shared}` }),
    await start({ replicaof: `127.0.0.1 ${shared}` }),
  ];
  const members = [primary, ...replicas];
  const sentinels: Sentinel[] = [];
  for (let nth = 0; nth < 3; nth += 1)
    sentinels.push(stack.use(await startSentinel(shared, await tlsSettings(tls))));
  await until('the Sentinels know each other and the replicas', async () => {
    const views = await Promise.all(sentinels.map(viewOf));
    return views.every(({ replicas, others }) => replicas === 2 && others === 2);
  });
  await untilReplicated(first, 2);
  const kept = stack.move();
  return {
    servers: members.map(({ server }) => server),
    yaml: `{ sentinels: [${sentinels.map((one) => `'127.0.0.1:${one.shared}'`).join(', ')}], master: orders${tlsYaml(tls)} }`,
    primary: async () => {
      const views = await Promise.all(sentinels.map(viewOf));
      const [newest] = views.sort((a, b) => b.epoch - a.epoch);
      return serverAt(members, newest?.port ?? 0);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** What a Sentinel knows. `epoch` counts the failovers: a Sentinel can hear of one seconds after the others. */
async function viewOf({ redis }: Sentinel) {
  const state = await redis.call('SENTINEL', 'master', 'orders');
  const pairs = Array.isArray(state) ? state.map(String) : [];
  const of = (name: string) => Number(pairs[pairs.indexOf(name) + 1]);
  // The state names the old primary until the replicas follow the new one, which takes writes before that.
  const address = await redis.call('SENTINEL', 'get-master-addr-by-name', 'orders');
  const port = Array.isArray(address) ? Number(address[1]) : 0;
  return {
    port,
    epoch: of('config-epoch'),
    replicas: of('num-slaves'),
    others: of('num-other-sentinels'),
  };
}

function serverAt(members: readonly Member[], port: number): TestRedis {
  const found = members.find(({ shared }) => shared === port);
  if (found === undefined) throw new Error(`no server of the test has port ${port}`);
  return found.server;
}

async function untilReplicated(primary: TestRedis, replicas: number): Promise<void> {
  await using admin = connectAsAdmin(primary);
  await until('the replicas follow', async () => {
    const info = await admin.redis.info('replication');
    return (info.match(/state=online/g) ?? []).length === replicas;
  });
}

/** `shared`: the port for everybody but this test. */
type Sentinel = AsyncDisposable & { shared: number; redis: Redis };

/** `primary`: its port. `settings`: more lines of its configuration. */
export async function startSentinel(
  primary: number,
  settings: Record<string, string | number> = {},
): Promise<Sentinel> {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await makeTempFolder());
  const port = await freePort();
  const file = path.join(folder, 'sentinel.conf');
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor orders 127.0.0.1 ${primary} 2`,
    'sentinel down-after-milliseconds orders 1000',
    'sentinel failover-timeout orders 5000',
    ...Object.entries(settings).map(([name, value]) => `${name} ${value}`),
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const found = await findRedisServer();
  if (!found) throw new Error('no redis-server on this machine: npm test installs it');
  const server = spawn(found.file, [file, '--sentinel'], { argv0: found.argv0, stdio: 'ignore' });
  const endWithTests = () => server.kill('SIGKILL');
  process.once('exit', endWithTests);
  const ended = once(server, 'exit');
  stack.defer(async () => {
    server.kill('SIGKILL');
    await ended;
    process.removeListener('exit', endWithTests);
  });
  const redis = new Redis(port, '127.0.0.1', {
    maxRetriesPerRequest: null,
    enableReadyCheck: false,
  });
  redis.on('error', () => undefined);
  stack.defer(() => redis.disconnect());
  await redis.ping();
  const kept = stack.move();
  const shared = Number(settings['tls-port'] ?? port);
  return { shared, redis, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

const PRIMARIES = 3;
const SLOTS = 16_384;

/** Three primaries with a replica each. A replica takes over a second after its primary is gone. */
export async function startClusterGroup(tls?: GroupTls): Promise<RedisGroup> {
  await using stack = new AsyncDisposableStack();
  const members: Member[] = [];
  for (let nth = 0; nth < 2 * PRIMARIES; nth += 1) {
    const own = await tlsSettings(tls);
    const settings = {
      ...REPLICATES,
      ...own,
      ...(tls && { 'tls-cluster': 'yes' }),
      'cluster-enabled': 'yes',
      'cluster-config-file': 'nodes.conf',
      // A separate port: ten thousand above the port of clients may be one that outgoing connections use.
      'cluster-port': await freePort(),
      'cluster-node-timeout': 1_000,
      'cluster-replica-validity-factor': 0,
    };
    const server = stack.use(
      await startTestRedis({ databases: 1, users: [REPLICA_USER], settings }),
    );
    members.push({ server, shared: Number(own['tls-port'] ?? server.port) });
  }
  const servers = members.map(({ server }) => server);
  const admins = servers.map((server) => stack.use(connectAsAdmin(server)).redis);
  await joinCluster(members, admins);
  const kept = stack.move();
  return {
    servers,
    yaml: `{ cluster: [${members.map(({ shared }) => `'127.0.0.1:${shared}'`).join(', ')}]${tlsYaml(tls)} }`,
    primary: async (key) => {
      for (const server of servers) {
        if (await ownsKey(server, key)) return server;
      }
      throw new Error(`no server owns ${key}`);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** False also for a server that is gone. */
async function ownsKey({ adminUrl }: TestRedis, key: string): Promise<boolean> {
  const redis = new Redis(adminUrl, { retryStrategy: null, maxRetriesPerRequest: 0 });
  redis.on('error', () => undefined);
  try {
    await redis.exists(key);
    return true;
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}

async function joinCluster(members: readonly Member[], admins: readonly Redis[]): Promise<void> {
  const ids = await Promise.all(
    admins.map(async (admin) => String(await admin.call('CLUSTER', 'MYID'))),
  );
  const [first] = admins;
  for (const [nth, { shared }] of members.entries()) {
    const bus = String((await admins[nth]?.config('GET', 'cluster-port'))?.[1]);
    if (nth > 0) await first?.call('CLUSTER', 'MEET', '127.0.0.1', String(shared), bus);
  }
  for (let nth = 0; nth < PRIMARIES; nth += 1) {
    const [from, to] = [nth, nth + 1].map((one) => Math.floor((SLOTS * one) / PRIMARIES));
    await admins[nth]?.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String((to ?? 0) - 1));
  }
  for (let nth = PRIMARIES; nth < members.length; nth += 1) {
    await until('a replica knows its primary', async () => {
      const answer = await admins[nth]
        ?.call('CLUSTER', 'REPLICATE', ids[nth - PRIMARIES] ?? '')
        .catch(() => 'not yet');
      return answer === 'OK';
    });
  }
  await until('the cluster works and its replicas follow', async () => {
    const states = await Promise.all(
      admins.map(async (admin, nth) => {
        const state = String(await admin.call('CLUSTER', 'INFO'));
        const role = await admin.info('replication');
        return (
          state.includes('cluster_state:ok') &&
          (nth < PRIMARIES || role.includes('master_link_status:up'))
        );
      }),
    );
    return states.every(Boolean);
  });
}
