import type { X509Certificate } from 'node:crypto';
import { access, constants } from 'node:fs/promises';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import path from 'node:path';
import { TLSSocket } from 'node:tls';
import { type Config, environmentOf } from '../../config/config.ts';
import type { TlsKeys } from '../../config/fields.ts';
import { isLoopback } from '../../config/fields.ts';
import type { Network } from '../../config/network.ts';
import { isWebAddress } from '../../config/source-schema.ts';
import { codeOf, reasonOf, toError } from '../../core/errors.ts';
import { duration } from '../../core/format.ts';
import { createConnector, type Route } from '../../core/pool.ts';
import { certificatesIn } from '../../core/tls-files.ts';
import { proxyName } from '../../core/tunnel.ts';
import { createListedTwice, TWICE_REMEDY, twiceText } from '../../ledger/adopt.ts';
import type { Store } from '../../redis/store.ts';
import { livingDaemons } from '../heartbeat.ts';
import { type Finding, fail, failure, fine, warn } from './finding.ts';

type Place = Pick<Store, 'redis' | 'keys'>;

/** What a daemon connects to. */
type Target = { called: string; address: string; route: Route; tls: TlsKeys | undefined };

const WEBHOOK = 'webhook';

/** Milliseconds for one connection. */
const TIMEOUT = 5_000;
/** Milliseconds before its end at which a certificate is reported. */
const SOON = 14 * 86_400_000;

/**
 * Checks the connection to everything that the daemon calls: the proxy opens a tunnel, certificate files can be read
 * and are valid, and servers present a trusted certificate for their host. `now` in milliseconds.
 */
export async function checkNetwork(
  config: Config,
  network: Network,
  now: number,
): Promise<Finding[]> {
  const targets = targetsOf(config, network);
  const used = [...targets, { called: 'Redis', tls: config.redis.tls }];
  const files = used.flatMap(({ called, tls }) => (tls ? fileFindings(called, tls, now) : []));
  const checked = targets.filter((target) => isWorthChecking(target, network));
  return [
    ...files,
    ...(await Promise.all(checked.map((target) => connectionFinding(target, network, now)))).flat(),
  ];
}

function targetsOf(config: Config, network: Network): Target[] {
  const { baseUrl, authUrl, tls } = environmentOf(config);
  const route = network.api;
  const api: Target[] = [{ called: 'API', address: baseUrl, route, tls }];
  if (new URL(authUrl).origin !== new URL(baseUrl).origin) {
    api.push({ called: 'token endpoint', address: authUrl, route, tls: undefined });
  }
  const exports = config.sources.flatMap((source): Target[] => {
    if (source.type !== 'export' || !isWebAddress(source.path)) return [];
    const to = network.toSource(source);
    return [{ called: `export ${source.name}`, address: source.path, route: to, tls: source.tls }];
  });
  const webhooks = config.notify.flatMap((notice): Target[] => {
    if (notice.webhook === undefined) return [];
    return [
      {
        called: WEBHOOK,
        address: notice.webhook,
        route: network.toNotice(notice),
        tls: notice.tls,
      },
    ];
  });
  return [...api, ...exports, ...webhooks];
}

/** Without TLS and proxy, the call itself shows whether the server is there. A webhook is called only when there is a notice. */
function isWorthChecking({ called, address }: Target, { proxyTo }: Network): boolean {
  const url = new URL(address);
  return called === WEBHOOK || url.protocol === 'https:' || proxyTo(url) !== undefined;
}

async function connectionFinding(
  { called, address, route }: Target,
  { proxyTo }: Network,
  now: number,
): Promise<Finding[]> {
  const { origin, protocol, hostname, port, host } = new URL(address);
  const proxy = proxyTo(new URL(origin));
  const check = `connection to ${called}`;
  try {
    const connector = createConnector(new URL(origin), TIMEOUT, route);
    const bare = hostname.replace(/^\[|\]$/g, '');
    const socket = await new Promise<NonNullable<Parameters<Parameters<typeof connector>[1]>[1]>>(
      (resolve, reject) => {
        connector({ hostname: bare, host, protocol, port }, (error, opened) =>
          opened ? resolve(opened) : reject(toError(error)),
        );
      },
    );
    const tls = socket instanceof TLSSocket ? socket : undefined;
    const certificate = tls?.getPeerX509Certificate();
    const version = tls?.getProtocol() ?? 'no TLS';
    socket.destroy();
    const way = proxy === undefined ? '' : ` through the proxy ${proxyName(proxy)}`;
    const message = `${host} answers${way}, ${version}`;
    return certificate ? [ageFinding(check, message, certificate, now)] : [fine(check, message)];
  } catch (error) {
    const remedy = 'Check the address, the network and the firewall.';
    const thrown = toError(error);
    return [failure(check, thrown.message === '' ? new Error(reasonOf(thrown)) : thrown, remedy)];
  }
}

function fileFindings(called: string, { caFile, certFile }: TlsKeys, now: number): Finding[] {
  const files = [
    ['caFile', caFile, `CA certificates of ${called}`],
    ['certFile', certFile, `certificate for ${called}`],
  ] as const;
  return files.flatMap(([key, file, check]): Finding[] => {
    if (file === undefined) return [];
    try {
      return certificatesIn(key, file).map((one) =>
        ageFinding(check, `${file}: ${one.subject.replaceAll('\n', ', ')}`, one, now),
      );
    } catch (error) {
      return [failure(check, error)];
    }
  });
}

function ageFinding(
  check: string,
  message: string,
  { validFromDate, validToDate }: X509Certificate,
  now: number,
): Finding {
  const end = validToDate.toISOString().slice(0, 10);
  const remedy = 'Replace the certificate. po-sync reads new files without a restart.';
  if (validToDate.getTime() <= now) return fail(check, `${message}; expired on ${end}`, remedy);
  if (validFromDate.getTime() > now) {
    const begin = validFromDate.toISOString().slice(0, 10);
    const clock = 'Check the clock of this machine.';
    return fail(check, `${message}; not valid before ${begin}`, clock);
  }
  if (validToDate.getTime() - now < SOON)
    return warn(check, `${message}; expires on ${end}`, remedy);
  return fine(check, `${message}; certificate valid until ${end}`);
}

/**
 * Checks that the programs of `notify.command` exist and can be run; none is called. A missing one loses notices, never orders.
 * Webhooks are checked with the network.
 */
export async function checkNotices({ notify }: Config, searched: string): Promise<Finding[]> {
  const programs = new Set(notify.flatMap(({ command }) => command?.slice(0, 1) ?? []));
  const found = await Promise.all(
    [...programs].map(async (program): Promise<Finding[]> => {
      const places = program.includes('/')
        ? [program]
        : searched.split(':').map((folder) => path.join(folder, program));
      const codes = await Promise.all(
        places.map((place) => access(place, constants.X_OK).then(() => '', codeOf)),
      );
      if (codes.includes('')) return [fine('notices', `the program ${program} can be run`)];
      const reason = codes.includes('EACCES') ? 'cannot be run' : 'does not exist';
      const remedy = 'Correct notify.command, and make the program executable (chmod +x).';
      return [warn('notices', `the program ${program} ${reason}`, remedy)];
    }),
  );
  return found.flat();
}

/** Whether other machines reach the admin port over plain http. With an https `publicUrl`, a proxy is known. */
export function checkAdminHost({ admin: { host, publicUrl } }: Config): Finding[] {
  if (isLoopback(host) || publicUrl?.startsWith('https:')) return [];
  const message = `admin.host ${host} serves other machines over plain http: tokens and orders can be read on the way`;
  const remedy =
    'Put an https proxy before it and set admin.publicUrl to its address, or set admin.host to 127.0.0.1.';
  return [warn('admin port', message, remedy)];
}

/** Milliseconds after which pm2, the first of the service managers that po-sync has files for, kills a daemon. */
const KILLED = 45_000;
/** Milliseconds that a daemon drains after its longest call. */
const DRAINS = 5_000;

/** That a service manager may kill a daemon during its longest call, which leaves that order in doubt. */
export function checkStop({ delivery: { timeout } }: Config): Finding[] {
  const longest = timeout + DRAINS;
  if (longest <= KILLED) return [];
  const message = `a call may take ${duration(timeout)} (delivery.timeout), and pm2 kills a daemon ${duration(KILLED)} after it has to stop: the order of that call would be in doubt`;
  const remedy = `Set kill_timeout of pm2, TimeoutStopSec of systemd or stop_grace_period of the container to more than ${duration(longest)}.`;
  return [warn('stop', message, remedy)];
}

/** The daemon on this machine that has this admin port. */
export async function holderOf(port: number, place: Place) {
  const daemons = await livingDaemons(place);
  return daemons.find(({ host, adminPort }) => host === hostname() && adminPort === port);
}

/** Whether a daemon could open its admin port. A daemon that runs on this machine has it already. */
export async function checkAdminPort(place: Place, config: Config): Promise<Finding[]> {
  const { host, port } = config.admin;
  const holder = port === 0 ? undefined : await holderOf(port, place);
  if (port === 0 || holder) return [];
  const error = await whyTaken(host.replace(/^\[|\]$/g, ''), port);
  if (error === undefined) return [];
  const isTaken = codeOf(error) === 'EADDRINUSE';
  const reason = isTaken
    ? 'is used by another program'
    : `cannot be opened (${codeOf(error) ?? error.message})`;
  const remedy = isTaken
    ? 'Set another admin.port, or end that program.'
    : 'Correct admin.host and admin.port.';
  return [failure('admin port', new Error(`${host}:${port} ${reason}`), remedy)];
}

async function whyTaken(host: string, port: number): Promise<Error | undefined> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<Error | undefined>();
  server.once('error', resolve);
  server.listen(port, host, () => server.close(() => resolve(undefined)));
  return await promise;
}

/** Orders that the API's list showed more than once. */
export async function checkTwice(place: Place): Promise<Finding[]> {
  const count = await createListedTwice(place).count();
  if (count === 0) return [];
  return [warn('created twice', twiceText(count), TWICE_REMEDY)];
}
