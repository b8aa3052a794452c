import { readFile, realpath } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { type Config, startCommandOf } from '../../config/config.ts';
import { counted, iso, moment, orders } from '../../core/format.ts';
import { buildOf, ROOT } from '../../core/version.ts';
import { allPauses } from '../../deliver/breaker-view.ts';
import { pauseRemedy } from '../../deliver/pause-rules.ts';
import { foreignLedger } from '../../intake/environment-marker.ts';
import { createBatches } from '../../ledger/batches/batches.ts';
import { knownLedger } from '../../ledger/ledger-id.ts';
import { NOTICES_REMEDY, noticesText } from '../../notify/outbox.ts';
import type { Store } from '../../redis/store.ts';
import type { Role } from '../daemon.ts';
import {
  causeText,
  delivers,
  isOftenLost,
  isOutdated,
  LOST_REMEDY,
  leftWithoutIntake,
  lossText,
  RESTART_REMEDY,
} from '../delivery/pause-delivery.ts';
import {
  checkSource,
  filesToTake,
  ignoredOf,
  notTakenTexts,
  takesFiles,
} from '../delivery/source-status.ts';
import {
  daemonCounts,
  filesNotTaken,
  isBeating,
  type LivingDaemon,
  livingDaemons,
} from '../heartbeat.ts';
import { checkBatches, checkFoldersGone, checkSources } from './check-folders.ts';
import { checkAddress, checkAdminPort, checkTwice } from './check-network.ts';
import { checkFormat, checkRestored, isNew } from './check-redis.ts';
import { type Finding, failure } from './finding.ts';

type Place = Pick<Store, 'redis' | 'keys'>;

/** Checks whether a daemon runs, and what the daemons of the environment share: their ledger, pauses of delivery, notices that were not accepted, orders created twice, and the admin port of this machine. */
export async function checkDaemon(place: Place, config: Config): Promise<Finding[]> {
  return [
    ...(await checkFormat(place)),
    ...(await checkLedger(place, config)),
    ...(await checkRestored(place, config)),
    ...(await checkSources(place, config)),
    ...(await checkAddress(place, config)),
    ...allPauses(await place.redis.hgetall(place.keys.breaker)).map((pause): Finding => {
      const remedy = pauseRemedy(pause, ' unless token or API fails below');
      return { check: 'delivery', state: 'warn', message: `paused ${causeText(pause)}`, remedy };
    }),
    ...(await checkRunning(place, config)),
    ...(await checkRoles(place, config)),
    ...(await checkFoldersGone(place)),
    ...(await livingDaemons(place)).flatMap(({ notices = [], ...daemon }) => [
      ...lostRedis(daemon),
      ...notices.map((trouble): Finding => {
        return {
          check: 'notices',
          state: 'warn',
          message: noticesText(trouble),
          remedy: NOTICES_REMEDY,
        };
      }),
    ]),
    ...(await checkNotTaken(place, config)),
    ...(await checkBatches(place)),
    ...(await checkTwice(place)),
    ...(await checkAdminPort(place, config)),
  ];
}

function lostRedis({ pid, ...losses }: LivingDaemon): Finding[] {
  if (!isOftenLost(losses)) return [];
  return [
    {
      check: 'daemon',
      state: 'warn',
      message: `process ${pid}: ${lossText(losses)}`,
      remedy: LOST_REMEDY,
    },
  ];
}

/** Before the first start nobody expects a daemon. */
async function checkRunning({ redis, keys }: Place, config: Config): Promise<Finding[]> {
  if (await isNew({ redis, keys })) return [];
  const living = await livingDaemons({ redis, keys });
  const started = await Promise.all(living.map(startedBy));
  if (living.length > 0 && living.every(isBeating))
    return [
      runningWell(started, config),
      ...started.flatMap((one) => checkLost(one, started)),
      ...started.flatMap((one) => checkStray(one, started)),
      ...started.flatMap(checkVersion),
      ...living.flatMap((one) => checkConfiguration(one, config)),
    ];
  const wait = living.some(isBeating) ? '' : filesWait((await filesToTake(config)).length);
  const [message, remedy] =
    living.length === 0
      ? [
          'none is running',
          `Start it with your service manager, or run ${startCommandOf(config)}. ${BETWEEN_RUNS}`,
        ]
      : [
          daemonCounts(living),
          'Run po-sync status to see which. Start it again, unless your service manager does.',
        ];
  return [{ check: 'daemon', state: 'warn', message: `${message}${wait}`, remedy }];
}

function filesWait(files: number): string {
  return files === 0
    ? ''
    : `, and ${counted(files, 'file')} in an inbox ${files === 1 ? 'waits' : 'wait'} for one`;
}

/** The running daemons do not do the work of another role. */
async function checkRoles({ redis, keys }: Place, config: Config): Promise<Finding[]> {
  const living = await livingDaemons({ redis, keys });
  if (!living.some(isBeating)) return [];
  const files = living.some(takesFiles) ? 0 : (await filesToTake(config)).length;
  const batches = await createBatches({ redis, keys, owner: 'doctor' }).underWay();
  const left = leftWithoutIntake(batches, living).length;
  const open = living.some(delivers)
    ? 0
    : (await redis.zcard(keys.due)) + (await redis.zcard(keys.doubt));
  const finding = (message: string, role: Role): Finding => {
    const remedy = `Start it with your service manager, or run ${startCommandOf(config)} --role ${role}.`;
    return { check: 'daemon', state: 'warn', message, remedy };
  };
  const waitFor = (what: string, waiting: number, waits: string, role: Role) =>
    waiting === 0
      ? []
      : [
          finding(
            `none that ${what} is running, and ${waits} ${waiting === 1 ? 'waits' : 'wait'} for one`,
            role,
          ),
        ];
  return [
    ...waitFor('takes files', files, `${counted(files, 'file')} in an inbox`, 'intake'),
    ...waitFor('takes files', left, `${counted(left, 'file')} in progress`, 'intake'),
    ...waitFor('delivers', open, orders(open), 'delivery'),
  ];
}

/** With where the log is: a daemon does not know where its standard output goes. */
function runningWell(living: readonly StartedDaemon[], config: Config): Finding {
  const log =
    startCommandOf(config) === 'npm start'
      ? 'data/daemon.log'
      : 'its standard output (pm2 logs po-sync, journalctl -u po-sync, docker logs po-sync, or with the name that you gave it)';
  const each = living.slice(0, NAMED).map(({ host, pid, since, by }) => {
    const place = host === hostname() ? '' : ` on ${host}`;
    return `process ${pid}${place} since ${moment(iso(since))}${by === undefined ? '' : `, started by ${by}`}`;
  });
  const more = living.length > NAMED ? ['others'] : [];
  return {
    check: 'daemon',
    state: 'ok',
    message: `${daemonCounts(living)} (${[...each, ...more].join('; ')}); the log is ${log}`,
  };
}

/** Daemons that are named. */
const NAMED = 8;

/** `by`: the program that started it and still has it, such as `pm2`. `pm2`: its number there, if pm2 started it. `root`: the folder of its program. `manager`: the service manager that has it; `isByHand`: none has. */
type StartedDaemon = LivingDaemon & { by?: string; pm2?: string; root?: string } & {
  manager?: string;
  isByHand?: true;
};

/** Who started a daemon, as far as this user may see it on this machine. */
async function startedBy(daemon: LivingDaemon): Promise<StartedDaemon> {
  if (daemon.host !== hostname()) return daemon;
  const read = (pid: string | number, file: string) =>
    readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  const above = async (pid: string | number) =>
    /^.*\) \S+ (\d+)/s.exec(await read(pid, 'stat'))?.[1] ?? '0';
  const parent = await above(daemon.pid);
  let by = (await read(parent, 'comm')).trim();
  // The thread of a Node.js program: its script says more.
  const script = /[^/\0]+\.[cm]?[jt]s(?=\0)/.exec(await read(parent, 'cmdline'))?.[0];
  if (by === 'MainThread') by = script === undefined ? 'node' : `node ${script}`;
  // The launcher may be between both.
  for (let pid = parent; pid !== '0'; pid = await above(pid))
    if (/pm2/i.test(await read(pid, 'cmdline'))) by = 'pm2';
  const variables = (await read(daemon.pid, 'environ')).split('\0');
  const [home = '', id] = ['PM2_HOME=', 'pm_id='].map((name) =>
    variables.find((one) => one.startsWith(name)),
  );
  const isUnit = variables.some((one) => one.startsWith('INVOCATION_ID='));
  const isByHand =
    variables.length > 1 && id === undefined && !isUnit && by !== '' && !SUPERVISORS.test(by);
  const manager = by === (id === undefined && isUnit ? 'systemd' : 'pm2') ? by : undefined;
  // pm2 starts its own program, which has the path of ours in a variable.
  const words = [...variables, ...(await read(daemon.pid, 'cmdline')).split('\0')];
  const [root] = words.flatMap(
    (one) => /^(?:pm_exec_path=|node )?(\/.*)\/src\/main\.ts$/.exec(one)?.[1] ?? [],
  );
  const at = root && (await realpath(root).catch(() => root));
  const own = {
    ...(at && { root: at }),
    ...(manager && { manager }),
    ...(isByHand && { isByHand }),
  };
  return {
    ...daemon,
    ...(by && { by }),
    ...(id !== undefined && { pm2: `${home} ${id}` }),
    ...own,
  };
}

/** Programs that start others again, and the first ones of containers. */
const SUPERVISORS = /^(?:pm2|supervisor|runsv|s6-|monit|containerd|docker|conmon|tini|dumb-init)/;

/** Nobody stops or updates a daemon that was started by hand, or forgotten, together with those of a service manager. */
function checkStray(
  { pid, by, role, isByHand, adminPort }: StartedDaemon,
  all: readonly StartedDaemon[],
): Finding[] {
  // With start --once, a daemon has no admin port.
  if (!isByHand || adminPort === undefined) return [];
  const doesTheSame = (one: StartedDaemon) => (one.role ?? role) === (role ?? one.role);
  const other = all.find((one) => one.manager !== undefined && doesTheSame(one));
  if (other === undefined) return [];
  const message = `process ${pid}, started by ${by}, runs beside process ${other.pid}, which ${other.manager} has, and no service manager has it`;
  const remedy = `Nobody stops or updates it together with the others. Unless you want it to run, run kill ${pid}.`;
  return [{ check: 'daemon', state: 'warn', message, remedy }];
}

/** pm2 can lose a daemon that it started, such as one that it restarted while it was deleted: nobody stops that one. */
function checkLost(daemon: StartedDaemon, all: readonly StartedDaemon[]): Finding[] {
  const { pid, pm2, by } = daemon;
  const newer = all.findLast((other) => other.pm2 === pm2);
  if (pm2 === undefined || by === undefined || (by === 'pm2' && newer?.pid === pid)) return [];
  const why =
    by === 'pm2' ? `process ${newer?.pid} has its number in pm2 now` : 'its pm2 has ended';
  const message = `process ${pid} was started by pm2, which may not know it any more: ${why}`;
  return [
    {
      check: 'daemon',
      state: 'warn',
      message,
      remedy: `Unless pm2 list shows it, or pm2 is reloading it, run kill ${pid}.`,
    },
  ];
}

const BETWEEN_RUNS = 'With start --once, none runs between two runs.';

/** A daemon of this machine uses the code that it started with, also after an update, and pm2 starts it again from its folder. */
function checkVersion({ host, pid, version, root = ROOT, pm2 }: StartedDaemon): Finding[] {
  const here = buildOf();
  if (host !== hostname() || (version === here && root === ROOT)) return [];
  const [its, own] = root === ROOT ? ['', ''] : [` in ${root}`, ` in ${ROOT}`];
  const message = `process ${pid} runs ${version}${its}, and this is ${here}${own}`;
  const started =
    pm2 === undefined
      ? 'start the daemon from this one: correct the path in your service manager, because a restart keeps the old one.'
      : 'a restart keeps the old one: run pm2 delete with its name, wait until po-sync status shows none running, then run pm2 start ecosystem.config.cjs in this folder, and pm2 save.';
  const remedy =
    root === ROOT
      ? 'If po-sync was updated, restart the daemon.'
      : `If po-sync was updated into another folder, ${started}`;
  return [{ check: 'daemon', state: 'warn', message, remedy }];
}

/** A daemon of this machine uses the configuration that it started with. */
function checkConfiguration(daemon: LivingDaemon, config: Config): Finding[] {
  if (!isOutdated(daemon, config)) return [];
  const message = `process ${daemon.pid} was started with another configuration than ${config.file}`;
  return [{ check: 'daemon', state: 'warn', message, remedy: RESTART_REMEDY }];
}

/** Whoever runs `doctor` may have more rights than a daemon. What this user cannot read either is reported with the folders. */
async function checkNotTaken(place: Place, config: Config): Promise<Finding[]> {
  const look = async (source: Config['sources'][number]) => {
    const [{ state }, ignored] = await Promise.all([
      checkSource(source, config, true),
      ignoredOf(source),
    ]);
    return { name: source.name, state, ignored };
  };
  const seen = await Promise.all(config.sources.map(look));
  const isSeen = (name: string) => seen.some((one) => one.name === name && one.state !== 'ok');
  const all = filesNotTaken(await livingDaemons(place)).filter(
    (one) => one.file !== undefined || !isSeen(one.source),
  );
  const message = (text: string): Finding => ({ check: 'not taken', state: 'warn', message: text });
  return notTakenTexts({ sources: seen, notTaken: all }).map(message);
}

/** A start refuses an inbox of another ledger. */
async function checkLedger(place: Place, { sources, data }: Config): Promise<Finding[]> {
  const own = {
    ledger: await knownLedger(place, path.join(data, 'ledger')),
    host: hostname(),
    data,
  };
  const inboxes = sources.filter(({ type }) => type === 'inbox');
  const found = await Promise.all(
    inboxes.map(async ({ name, path: folder }) => {
      // A folder that cannot be read is reported with the folders.
      const error = await foreignLedger(folder, own).catch(() => undefined);
      return error === undefined ? [] : [failure(`inbox ${name}`, error)];
    }),
  );
  return found.flat();
}
