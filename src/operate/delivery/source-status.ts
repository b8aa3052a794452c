import { type Config, mappingsFor, type Source } from '../../config/config.ts';
import { redactedConfig } from '../../config/show.ts';
import type { Clock } from '../../core/clock.ts';
import { toError } from '../../core/errors.ts';
import { counted, duration } from '../../core/format.ts';
import { inspectOrders } from '../../correct/inspection.ts';
import { environmentOf } from '../../intake/environment-marker.ts';
import { stateOfPath } from '../../intake/export.ts';
import { type Ignored, ignoredIn } from '../../intake/folders.ts';
import { FILES } from '../../intake/read-claimed.ts';
import { namesToTake, type WaitingFile, waitingFiles } from '../../intake/waiting.ts';
import type { Batch } from '../../ledger/batches/batches.ts';
import type { Store } from '../../redis/store.ts';
import { lackOf } from '../../wording/lack.ts';
import type { BatchView } from '../batches/list-batches.ts';
import type { LivingDaemon } from '../heartbeat.ts';

export type SourceStatus = {
  name: string;
  type: Source['type'];
  path: string;
  /** Of the file, or of a pattern's folder. `no marker`: this inbox was
   * used, and now it has no marker, so it may be another folder. `other environment`: it belongs to `owner`. `unreachable`, with
   * the system's error code; `not checked`: an address. */
  state: 'ok' | 'missing' | 'no marker' | 'other environment' | 'unreachable' | 'not checked';
  owner?: string;
  code?: string;
  /** What is not read in an inbox: what is no file, and files with other names; absent when there is nothing. */
  ignored?: Ignored;
  /** Files in an inbox that no daemon has taken yet; absent when there are none. */
  waiting?: number;
  /** The first of them. */
  waitingFiles?: WaitingFile[];
  /** Files in an inbox with a name such as `a.csv.part` that have not changed for ten minutes; absent when there are none. */
  last?: { batch: string; file: string; at: number };
  /** It had no file for longer than `expectEvery` milliseconds: since its last one, or since po-sync began to watch it. */
  silent?: { since: number; expectEvery: number };
};

type Place = {
  config: Config;
  clock: Pick<Clock, 'now'>;
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
};

/** The sources, with the last file of each among the newest batches. `daemons`: one of them may have marked the inboxes. */
export async function sourcesOf(
  { config, clock, store }: Place,
  newest: readonly Batch[],
  daemons: readonly LivingDaemon[],
): Promise<SourceStatus[]> {
  const last = lastBatches(newest);
  const heard = await store.redis.hgetall(store.keys.heard);
  const { sources } = redactedConfig(config);
  return Promise.all(
    sources.map(async (source, i) => {
      const { name, type, path } = source;
      const batch = last.get(name);
      const ignored = await ignoredOf(config.sources[i]);
      const wasUsed = newest.some((one) => one.source === name) || daemons.some(takesFiles);
      const checked = await checkSource(source, config, wasUsed);
      return {
        name,
        type,
        path,
        ...checked,
        ...(ignored === undefined ? {} : { ignored }),
        ...(checked.state === 'other environment'
          ? {}
          : await waitingOf(config.sources[i], { config, clock })),
        ...(batch ? { last: { batch: batch.batch, file: batch.name, at: batch.startedAt } } : {}),
        ...silenceOf(source, heard[name], store.time.now()),
      };
    }),
  );
}

/** As `silent` notices count. `heard`: when its last file came, or a daemon began to watch it. */
function silenceOf(
  { expectEvery }: Pick<Source, 'expectEvery'>,
  heard: string | undefined,
  now: number,
) {
  const since = Number(heard);
  const isSilent = expectEvery !== undefined && heard !== undefined && now - since > expectEvery;
  return isSilent ? { silent: { since, expectEvery } } : {};
}

/** `silent: no file for 26 h, expected every 24 h`; undefined for any other source. */
export function silenceText({ silent }: Pick<SourceStatus, 'silent'>, now: number) {
  if (silent === undefined) return undefined;
  return `silent: no file for ${duration(now - silent.since)}, expected every ${duration(silent.expectEvery)}`;
}

/** An unmounted share leaves an empty folder without the marker of an inbox that was used. */
export async function checkSource(
  { type, path }: Pick<Source, 'type' | 'path'>,
  { environment }: Pick<Config, 'environment'>,
  wasUsed: boolean,
): Promise<Pick<SourceStatus, 'state' | 'owner' | 'code'>> {
  const found = await stateOfPath(path);
  if (type !== 'inbox' || found.state !== 'ok') return found;
  // A marker that cannot be read is that of an inbox, too.
  const owner = await environmentOf(path).catch(() => environment);
  if (owner === undefined) return wasUsed ? { state: 'no marker' } : found;
  return owner === environment ? found : { state: 'other environment', owner };
}

/** What is wrong with the folder of an inbox that is there; undefined if nothing is. */
export function inboxTrouble({
  state,
  owner,
}: Pick<SourceStatus, 'state' | 'owner'>): string | undefined {
  if (state === 'no marker') return NO_MARKER;
  return state === 'other environment'
    ? `it belongs to ${owner}: a daemon does not start with it`
    : undefined;
}

/** Such a daemon marked every inbox when it started. */
export function takesFiles({ role }: Pick<LivingDaemon, 'role'>): boolean {
  return role !== 'delivery';
}

/** What to do about an inbox without its marker. */
const NO_MARKER = 'may be another folder: mount the share, or restart po-sync to use this one';

/** Undefined also where the inbox cannot be read: its state says so. */
export async function ignoredOf(source: Source | undefined): Promise<Ignored | undefined> {
  if (source?.type !== 'inbox') return undefined;
  const found = await ignoredIn(source).catch(() => undefined);
  return found === undefined || found.total === 0 ? undefined : found;
}

async function waitingOf(
  source: Source | undefined,
  { config, clock }: Pick<Place, 'config' | 'clock'>,
): Promise<Pick<SourceStatus, 'waiting' | 'waitingFiles'>> {
  if (source?.type !== 'inbox') return {};
  const names = await namesToTake(source);
  if (names.length === 0) return {};
  const mappings = mappingsFor(config, source.name);
  const lacks = (file: string) =>
    inspectOrders(file, mappings).then(
      ({ read }) => lackOf(read),
      (error) => lackOf(toError(error)),
    );
  const now = clock.now();
  return {
    waiting: names.length,
    waitingFiles: await waitingFiles(source, names, { now, lacks }),
  };
}

/** What decides whether files of inboxes are taken. */
export type InboxFacts = {
  sources: readonly SourceStatus[];
  daemons: readonly LivingDaemon[];
  batches: readonly Pick<BatchView, 'standing'>[];
};

/** How many files wait in inboxes, and what keeps all of them there; undefined when none wait. */
export function inboxText(facts: InboxFacts): string | undefined {
  const files = facts.sources.reduce((sum, { waiting = 0 }) => sum + waiting, 0);
  if (files === 0) return undefined;
  const why = obstacleOf(facts);
  return `${counted(files, 'file')} in an inbox ${files === 1 ? 'waits' : 'wait'}${why ? `: ${why}` : ''}`;
}

/** What keeps daemons from taking any file of these inboxes, whatever the files are; undefined if nothing does. */
function obstacleOf({ sources, daemons, batches }: InboxFacts): string | undefined {
  if (!daemons.some(takesFiles)) return 'no daemon takes files now';
  const unmarked = sources.filter(({ state, waiting = 0 }) => state === 'no marker' && waiting > 0);
  if (unmarked.length > 0)
    return `${unmarked.map(({ name }) => name).join(', ')} has no marker and ${NO_MARKER}`;
  const reading = batches.filter(({ standing }) => standing === 'reading').length;
  if (reading < FILES) return undefined;
  return `${reading} files are being read, and a daemon reads at most ${FILES} at a time; their orders are delivered first`;
}

/** `a.csv, changed 1 s ago: it is still changing`, one for each file that is shown, and last how many more there are. */
export function waitingTexts({ waiting = 0, waitingFiles = [] }: SourceStatus): string[] {
  const more = waiting - waitingFiles.length;
  return [
    ...waitingFiles.map(fileText),
    ...(more > 0 && waitingFiles.length > 0 ? [`and ${more} more`] : []),
  ];
}

function fileText({ name, unchangedMs, why }: WaitingFile): string {
  const changed = unchangedMs === undefined ? '' : `, changed ${duration(unchangedMs)} ago`;
  return `${name}${changed}${why ? `: ${why.reason}` : ''}`;
}

/** As `silent` notices count: no fix file, no correction, and no file that could not be read. */
function lastBatches(newest: readonly Batch[]): Map<string, Batch> {
  const own = newest.filter(
    ({ inspection, isForm }) => inspection && !inspection.isFixFile && !isForm,
  );
  return new Map(own.toReversed().map((batch) => [batch.source, batch]));
}
