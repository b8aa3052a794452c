import { constants } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, realpath, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Config, Source } from '../../config/config.ts';
import { configSchema } from '../../config/schema.ts';
import { Secret } from '../../config/secret.ts';
import { NO_HEADERS } from '../../config/secrets.ts';
import { USUAL_FILES } from '../../config/source-schema.ts';
import { systemClock } from '../../core/clock.ts';
import { PoSyncError } from '../../core/errors.ts';
import { count, MEANINGS, orders, outcomeWord } from '../../core/format.ts';
import { draftPath, openRegularFile, readTextIfExists } from '../../core/regular-file.ts';
import { versionOf } from '../../core/version.ts';
import { openDaemon } from '../../daemon.ts';
import { takenNames } from '../../intake/names.ts';
import { createLog } from '../../log/log.ts';
import { type End, runUntilDone } from '../../operate/daemon.ts';
import { sourceIfAny } from '../../operate/named-source.ts';
import { countNeedingPerson, OUTCOMES } from '../../order/outcome.ts';
import { type Report, readReport } from '../../report/report.ts';
import type { FaultFile } from '../../sandbox/faults/fault-file.ts';
import type { SandboxEvent } from '../../sandbox/sandbox-options.ts';
import { loadFaults } from '../../sandbox/start-files.ts';
import { type Sandbox, startSandbox } from '../../sandbox/start-sandbox.ts';
import { correctionSteps } from '../../views/next-step.ts';
import { type CommonArgs, configIfAny, PROGRAM_ROOT } from '../load-config.ts';
import type { Shell } from '../shell.ts';
import { canShowLive, createLiveView } from '../terminal/live-view.ts';
import { type Format, formatOf, printable, printJson } from '../terminal/print.ts';

type RehearseArgs = CommonArgs & {
  file: string;
  source?: string;
  faults?: string;
  maxWait: number;
};

/** What came of a file. `createdTwice`: orders that the sandbox stored more than once. */
type Rehearsed = {
  report: Report;
  folder: string;
  faults: Record<string, number>;
  createdTwice: number;
};

/** The name of environment, source, mapping and client of a rehearsal. */
const REHEARSAL = 'rehearsal';
const FAULTS = path.join(PROGRAM_ROOT, 'config', 'rehearsals', 'rehearse.yaml');
/** Short waits: the sandbox is on this machine. */
const PACE = {
  timeout: 5_000,
  settle: 1_000,
  backoff: { initial: 100, max: 1_000 },
  probe: { initial: 200, max: 1_000 },
};

/**
 * `rehearse FILE`: processes a copy of the file with a temporary sandbox, ledger and Redis, and keeps only the report.
 * Uses no address of the configuration. 0: the sandbox accepted all orders; 2: something needs a person; 130/143:
 * interrupted. Throws PoSyncError `rehearsal-unfinished`, and like `openConfig`, `openRegularFile` and `loadFaults`.
 */
export async function rehearseCommand(args: RehearseArgs, shell: Shell): Promise<number> {
  const config = await configIfAny(args, shell);
  const source = config && sourceIfAny(args.source, config);
  const faults = await readFaults(
    args.faults === undefined ? FAULTS : path.resolve(shell.cwd, args.faults),
  );
  const named = path.resolve(shell.cwd, args.file);
  const file = await realpath(named).catch(() => named);
  await (await openRegularFile(file)).close();
  await using place = await makePlace();
  await drop(file, place.inbox);
  await using sandbox = await openSandbox(place.folder, faults);
  const rehearsal = configOf(sandbox, place.folder, config, source);
  const end = await run(rehearsal, args, shell);
  if (end === 'interrupted') return shell.signal.reason === 'SIGINT' ? 130 : 143;
  const [batch = ''] = await readdir(rehearsal.reports.path);
  const folder = path.join(rehearsal.reports.path, batch);
  const report = await readReport(folder);
  if (report === undefined) throw unfinished(file);
  place.keepReport();
  const kind = config && sourceIfAny(args.source, config)?.type;
  print({ report, folder, ...sandbox.seen() }, kind, args, shell);
  return report.state === 'finished' && countNeedingPerson(report.counts) === 0 ? 0 : 2;
}

async function readFaults(file: string): Promise<FaultFile> {
  const text = await readTextIfExists(file);
  if (text !== undefined) return loadFaults(text, file);
  throw new PoSyncError('file-missing', `Fault file ${file} not found.`, {
    remedy: 'Use one of config/rehearsals/, or omit --faults.',
    facts: { file },
  });
}

/** A temporary folder with an inbox. Disposing removes it, except for a report that is kept. */
async function makePlace() {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'po-sync-rehearsal-')));
  const inbox = path.join(folder, 'inbox');
  await mkdir(inbox);
  let isKept = false;
  return {
    folder,
    inbox,
    keepReport: () => {
      isKept = true;
    },
    async [Symbol.asyncDispose]() {
      const rest = isKept
        ? ['data', 'inbox', 'sandbox'].map((name) => path.join(folder, name))
        : [folder];
      for (const one of rest) await rm(one, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Copies the file into the inbox, under a name that an inbox takes. */
async function drop(file: string, inbox: string): Promise<void> {
  const draft = draftPath(inbox);
  await copyFile(file, draft, constants.COPYFILE_FICLONE);
  const name = path.basename(file);
  const isTaken = takenNames({ files: USUAL_FILES, doneFile: false });
  await rename(
    draft,
    path.join(inbox, isTaken(name) ? name : `file-${name.replace(/^[.~#]+/, '')}.csv`),
  );
}

async function openSandbox(folder: string, faults: FaultFile) {
  const found: Record<string, number> = {};
  const stored = new Set<string>();
  let createdTwice = 0;
  const onEvent = (event: SandboxEvent) => {
    if (event.type === 'fault') found[event.kind] = (found[event.kind] ?? 0) + 1;
    if (event.type !== 'stored') return;
    if (stored.has(event.order)) createdTwice += 1;
    stored.add(event.order);
  };
  const names = { environment: REHEARSAL, clientId: REHEARSAL, clientSecret: REHEARSAL };
  const sandbox = await startSandbox({
    ...names,
    port: 0,
    data: path.join(folder, 'sandbox'),
    faults,
    onEvent,
  });
  return { ...sandbox, seen: () => ({ faults: found, createdTwice }) };
}

/** The defaults, with the mapping and the rules of delivery of the configuration. */
function configOf(
  { baseUrl, authUrl }: Sandbox,
  folder: string,
  config: Config | undefined,
  source: Source | undefined,
): Config {
  const settings = configSchema.parse({
    data: path.join(folder, 'data'),
    environments: { [REHEARSAL]: { baseUrl, authUrl } },
    sources: [
      {
        name: REHEARSAL,
        type: 'inbox',
        path: path.join(folder, 'inbox'),
        stable: '100ms',
        poll: '100ms',
        ...(source?.mapping && { mapping: source.mapping }),
      },
    ],
    reports: { path: path.join(folder, 'reports') },
  });
  return {
    ...settings,
    file: config?.file ?? '',
    environment: REHEARSAL,
    mappings: config?.mappings ?? {},
    delivery: { ...settings.delivery, ...config?.delivery, ...PACE },
  };
}

async function run(config: Config, { json, maxWait }: RehearseArgs, shell: Shell): Promise<End> {
  const live = canShowLive(shell, { json })
    ? createLiveView({ shell, clock: systemClock, reports: config.reports.path })
    : undefined;
  await using daemon = await openDaemon({
    config,
    secrets: {
      clientId: REHEARSAL,
      clientSecret: new Secret(REHEARSAL),
      headers: NO_HEADERS,
    },
    clock: systemClock,
    log: createLog({ level: 'silent', pretty: false, stream: shell.streams.err }),
    self: { pid: shell.pid, version: versionOf() },
    signal: shell.signal,
    admin: false,
  });
  await using _ = live?.follow(daemon);
  const { end } = await runUntilDone(daemon, maxWait, systemClock, shell.signal);
  return end;
}

function unfinished(file: string): PoSyncError {
  return new PoSyncError(
    'rehearsal-unfinished',
    `The rehearsal of ${file} did not finish in time.`,
    {
      remedy: 'Allow more time with --max-wait, or use fewer faults with --faults.',
      facts: { file },
    },
  );
}

function print(
  rehearsed: Rehearsed,
  kind: Source['type'] | undefined,
  { json }: RehearseArgs,
  shell: Shell,
): void {
  const page = path.join(rehearsed.folder, 'report.html');
  if (json) printJson(shell, { ...rehearsed, page });
  else
    shell.out(
      `${[...rehearsedLines(rehearsed, kind, formatOf(shell)), `Report: ${page}`].join('\n')}\n`,
    );
}

function rehearsedLines(
  { report, folder, faults, createdTwice }: Rehearsed,
  kind: Source['type'] | undefined,
  { paint }: Format,
) {
  const { counts, state, error, warnings } = report;
  const outcomes = OUTCOMES.filter((outcome) => counts[outcome] > 0).map((outcome) => {
    const number = count(counts[outcome]).padStart(9);
    return `  ${number}  ${outcomeWord(outcome).padEnd(10)} ${paint('quiet', MEANINGS[outcome])}`;
  });
  const injected = Object.entries(faults).map(([kind, number]) => `${count(number)} ${kind}`);
  return [
    `${paint('strong', printable(report.file))}: ${orders(counts.orders)}, sent to a temporary sandbox only`,
    ...outcomes,
    ...(error === undefined ? [] : [`  ${paint('bad', state)}: ${printable(error.message)}`]),
    ...warnings.map((warning) => `  warning: ${printable(warning)}`),
    ...correctionSteps(kind, countNeedingPerson(counts) + (error === undefined ? 0 : 1)),
    `Faults that the sandbox injected: ${injected.join(', ') || 'none'}. Created twice: ${orders(createdTwice)}.`,
    `po-sync does not remove the report. When you do not need it any more, remove its folder: ${path.resolve(folder, '../..')}`,
  ];
}
