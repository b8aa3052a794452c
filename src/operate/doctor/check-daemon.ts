import { hostname } from 'node:os';
import path from 'node:path';
import { type Config, startCommandOf } from '../../config/config.ts';
import { counted, iso, moment, orders } from '../../core/format.ts';
import { versionOf } from '../../core/version.ts';
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
  isOutdated,
  leftWithoutIntake,
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
import { checkAdminPort, checkTwice } from './check-network.ts';
import { checkFormat, checkRestored, isNew } from './check-redis.ts';
import { type Finding, failure, fine, warn } from './finding.ts';

type Place = Pick<Store, 'redis' | 'keys'>;

/** Checks whether a daemon runs, and what the daemons of the environment share: their ledger, pauses of delivery, notices that were not accepted, orders created twice, and the admin port of this machine. */
export async function checkDaemon(place: Place, config: Config): Promise<Finding[]> {
  return [
    ...(await checkFormat(place, config)),
    ...(await checkLedger(place, config)),
    ...(await checkRestored(place, config)),
    ...(await checkSources(place, config)),
    ...allPauses(await place.redis.hgetall(place.keys.breaker)).map((pause): Finding => {
      const remedy = pauseRemedy(pause, ' unless token or API fails below');
      return warn('delivery', causeText(pause), remedy);
    }),
    ...(await checkRunning(place, config)),
    ...(await checkRoles(place, config)),
    ...(await checkFoldersGone(place)),
    ...(await livingDaemons(place)).flatMap(({ notices = [] }) =>
      notices.map((trouble) => warn('notices', noticesText(trouble), NOTICES_REMEDY)),
    ),
    ...(await checkNotTaken(place, config)),
    ...(await checkBatches(place)),
    ...(await checkTwice(place)),
    ...(await checkAdminPort(place, config)),
  ];
}

/** Before the first start nobody expects a daemon. */
async function checkRunning({ redis, keys }: Place, config: Config): Promise<Finding[]> {
  if (await isNew({ redis, keys })) return [];
  const living = await livingDaemons({ redis, keys });
  if (living.length > 0 && living.every(isBeating))
    return [
      runningWell(living, config),
      ...living.flatMap(checkVersion),
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
  return [warn('daemon', `${message}${wait}`, remedy)];
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
    return warn('daemon', message, remedy);
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
function runningWell(living: readonly LivingDaemon[], config: Config): Finding {
  const log =
    startCommandOf(config) === 'npm start'
      ? 'data/daemon.log'
      : 'its standard output (pm2 logs po-sync, journalctl -u po-sync, docker logs po-sync, or with the name that you gave it)';
  const each = living.slice(0, NAMED).map(({ host, pid, since }) => {
    const place = host === hostname() ? '' : ` on ${host}`;
    return `process ${pid}${place} since ${moment(iso(since))}`;
  });
  const more = living.length > NAMED ? ['others'] : [];
  return fine(
    'daemon',
    `${daemonCounts(living)} (${[...each, ...more].join('; ')}); the log is ${log}`,
  );
}

/** Daemons that are named. */
const NAMED = 8;

const BETWEEN_RUNS = 'With start --once, none runs between two runs.';

/** A daemon of this machine uses the code that it started with, also after an update. */
function checkVersion({ host, pid, version }: LivingDaemon): Finding[] {
  const here = versionOf();
  if (host !== hostname() || version === here) return [];
  const message = `process ${pid} runs ${version}, and this is ${here}`;
  const remedy = 'If po-sync was updated, restart the daemon.';
  return [warn('daemon', message, remedy)];
}

/** A daemon of this machine uses the configuration that it started with. */
function checkConfiguration(daemon: LivingDaemon, config: Config): Finding[] {
  if (!isOutdated(daemon, config)) return [];
  const message = `process ${daemon.pid} was started with another configuration than ${config.file}`;
  return [warn('daemon', message, RESTART_REMEDY)];
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
  const message = (text: string): Finding => warn('not taken', text);
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
