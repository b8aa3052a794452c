import { createConnection, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, Redis, type RedisOptions } from 'ioredis';
import { PoSyncError, toError } from '../core/errors.ts';

/** A server of Sentinel or Cluster. */
export type RedisNode = { host: string; port: number };

/** Finds the primary at this moment. Rejects when nobody knows one; a later call may find it. */
export type FindPrimary = () => Promise<RedisNode>;

type Login = Pick<RedisOptions, 'username' | 'password' | 'tls'>;

/** Milliseconds that one server may take: a host that is gone must not delay what the others know. */
const ANSWER_WITHIN = 1_500;

/** Milliseconds for a connection to close. */
const DISCONNECT_WITHIN = 2_000;

/** The text that begins a node's answer about a key of another node: slot and address of its owner. */
const MOVED = /\bMOVED \d+ (\S*):(\d+)/;

/**
 * Asks every Sentinel which server is the primary called `master`. Each failover has a higher epoch, which a majority
 * granted; the highest one counts, however many Sentinels have not heard of it yet. Where no majority of `sentinels`
 * answers, there is no primary: this host may be cut off together with one that was replaced.
 */
export function findBySentinels(
  sentinels: readonly RedisNode[],
  master: string,
  login: Login,
): FindPrimary {
  return async () => {
    const asked = await Promise.allSettled(sentinels.map((node) => primaryBy(node, master, login)));
    const answers = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const failed = asked.find((one) => one.status === 'rejected');
    if (answers.length <= sentinels.length / 2) {
      const reason = toError(failed?.reason);
      if (answers.length === 0) throw reason;
      throw new Error(
        `only ${answers.length} of ${sentinels.length} Sentinels answers (${reason.message})`,
      );
    }
    const [newest] = answers
      .filter((one) => one !== undefined)
      .sort((one, other) => byEpoch(one, other, answers));
    if (newest === undefined) throw unknownMaster(master);
    return newest.node;
  };
}

/** What a Sentinel considers the primary, and the epoch of the failover that made it one. */
type Named = { node: RedisNode; epoch: number };

/** The newest first, and within an epoch what most Sentinels report: without a failover it is 0 everywhere. */
function byEpoch(one: Named, other: Named, answers: readonly (Named | undefined)[]): number {
  const votes = ({ node: { host, port } }: Named) =>
    answers.filter((answer) => answer?.node.host === host && answer.node.port === port).length;
  return other.epoch - one.epoch || votes(other) - votes(one);
}

function unknownMaster(master: string): PoSyncError {
  return new PoSyncError('redis-master-unknown', `The Sentinels know no primary named ${master}`);
}

/** Undefined when the Sentinel knows no such primary. */
async function primaryBy(
  node: RedisNode,
  master: string,
  login: Login,
): Promise<Named | undefined> {
  return ask(node, login, async (client) => {
    const address = await client.call('SENTINEL', 'get-master-addr-by-name', master);
    if (!Array.isArray(address)) return undefined;
    const [host = '', port] = address.map(String);
    // A user of the Sentinels may be allowed no more than the address.
    const state = await client.call('SENTINEL', 'master', master).catch(() => []);
    const facts = Array.isArray(state) ? state.map(String) : [];
    return {
      node: { host, port: Number(port) },
      epoch: Number(facts[facts.indexOf('config-epoch') + 1] ?? 0),
    };
  });
}

/**
 * Follows the cluster's redirections to the primary that owns the slot of `key`. All keys of an environment share one
 * slot, so a plain connection to that node does everything.
 */
export function findInCluster(nodes: readonly RedisNode[], key: string, login: Login): FindPrimary {
  let known: RedisNode | undefined;
  return async () => {
    let last = new Error('no node of the cluster answers');
    for (const node of known === undefined ? nodes : [known, ...nodes]) {
      try {
        const owner = await ownerOf(key, node, login);
        known = owner;
        return owner;
      } catch (error) {
        last = toError(error);
      }
    }
    throw last;
  };
}

async function ownerOf(key: string, node: RedisNode, login: Login): Promise<RedisNode> {
  const redirected = await redirectionOf(key, node, login);
  if (redirected === undefined) return node;
  // Resharding: the new owner may not know it yet. The next try finds out.
  if ((await redirectionOf(key, redirected, login)) === undefined) return redirected;
  throw new Error('the cluster is moving the slot of this environment');
}

/** Undefined when the node owns the key's slot. */
async function redirectionOf(
  key: string,
  node: RedisNode,
  login: Login,
): Promise<RedisNode | undefined> {
  try {
    await ask(node, login, (client) => client.exists(key));
    return undefined;
  } catch (error) {
    const [, host, port] = MOVED.exec(toError(error).message) ?? [];
    if (port === undefined) throw error;
    // A node that does not know its own address leaves it out.
    return { host: host || node.host, port: Number(port) };
  }
}

async function ask<Answer>(
  { host, port }: RedisNode,
  login: Login,
  question: (client: Redis) => Promise<Answer>,
): Promise<Answer> {
  const client = new Redis({
    ...login,
    host,
    port,
    connectionName: 'po-sync-finder',
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: null,
    maxRetriesPerRequest: 0,
    connectTimeout: ANSWER_WITHIN,
    commandTimeout: ANSWER_WITHIN,
    disconnectTimeout: 100,
  });
  let trouble: Error | undefined;
  client.on('error', (error: unknown) => {
    trouble ??= toError(error);
  });
  try {
    await client.connect();
    return await question(client);
  } catch (error) {
    throw MOVED.test(toError(error).message) ? error : (trouble ?? error);
  } finally {
    // ioredis would keep the process waiting for one that has already ended.
    if (client.status !== 'end') client.disconnect();
  }
}

/**
 * A connector for ioredis that looks for the primary each time it connects. A primary that is not found counts as a
 * connection that failed, so that ioredis' own retries apply.
 */
export function connectorTo(find: FindPrimary, tls: RedisOptions['tls']) {
  return class PrimaryConnector extends AbstractConnector {
    #report: (type: string, error: Error) => void = () => undefined;

    constructor() {
      super(DISCONNECT_WITHIN);
    }

    /** Sentinel can name a server that was a primary until just now. */
    override check(info: { role?: string }): boolean {
      if (info.role !== 'slave') return true;
      this.#report('error', new Error('READONLY The server that was found is a replica'));
      return false;
    }

    override async connect(report: (type: string, error: Error) => void): Promise<Socket> {
      this.#report = report;
      this.connecting = true;
      const node = await find().catch((error: unknown) => {
        this.firstError = toError(error);
      });
      const stream = node && this.connecting ? this.#open(node) : new Socket().destroy();
      this.stream = stream;
      return stream;
    }

    #open(node: RedisNode): Socket {
      const stream = tls ? connectTls({ ...node, ...tls }) : createConnection(node);
      stream.once('error', (error) => {
        this.firstError = error;
      });
      return stream;
    }
  };
}
