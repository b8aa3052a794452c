import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type ErrorFacts, PoSyncError } from '../../core/errors.ts';
import type { Stamp } from '../../core/regular-file.ts';
import { LIMITS } from '../../order/limits.ts';
import { requireUnchanged } from '../bytes.ts';
import { unreadable } from '../unreadable.ts';
import type { SheetRow, Unseen } from './sheet-row.ts';

/** The rows of one sheet that contain anything, page by page. */
export type WorkbookRows = AsyncDisposable & {
  unseen: Unseen;
  pages(): AsyncGenerator<SheetRow[]>;
};

type Outcome =
  | { kind: 'written'; unseen: Unseen }
  | { kind: 'refused'; code: string; message: string; remedy?: string; facts?: ErrorFacts };

const MIB = 1024 * 1024;
const PAGE = 1_000;

/** Processor time for any workbook, and for each MiB of it, in seconds: a hundred times what it takes. */
const LEAST_SECONDS = 10;
const SECONDS_EACH_MIB = 10;
/** A process that does nothing at all ends after so many times its processor time. */
const PATIENCE = 30;
/** How often its processor time is looked up, in milliseconds. */
const LOOK = 500;

/** Workbooks are read one at a time: each may need as much memory as everything else together. */
let turn: Promise<unknown> = Promise.resolve();

/**
 * Opens one sheet of an open workbook: the only visible one with data if no name is given. A separate process reads
 * it into a file without a name, so that only the page in use is in memory, however slowly the pages are taken.
 * PoSyncError `unreadable-zip`, `unreadable-sheet`, `unreadable-format`, `unreadable-xml`, or `unreadable-too-large`
 * beyond the limits of size, memory and time.
 */
export async function openWorkbook(
  handle: FileHandle,
  stamp: Stamp,
  { sheet, signal, seconds = secondsFor(stamp) }: OpenOptions,
): Promise<WorkbookRows> {
  if (stamp.size > LIMITS.workbookBytes)
    throw tooLarge(`The workbook has ${stamp.size} bytes`, LIMITS.workbookBytes);
  const rows = await openNamelessFile();
  const dispose = () => rows.close();
  try {
    const reading = turn.then(() =>
      runProgram({ workbook: handle.fd, rows: rows.fd, seconds, sheet, signal }),
    );
    turn = reading.catch(() => undefined);
    const outcome = await reading;
    await requireUnchanged(handle, stamp);
    if (outcome.kind === 'written')
      return { unseen: outcome.unseen, pages: () => pagesOf(rows), [Symbol.asyncDispose]: dispose };
    const { code, message, remedy, facts } = outcome;
    throw new PoSyncError(code, message, {
      ...(remedy !== undefined && { remedy }),
      ...(facts && { facts }),
    });
  } catch (error) {
    await dispose();
    throw error;
  }
}

type OpenOptions = {
  sheet: string | undefined;
  signal?: AbortSignal | undefined;
  seconds?: number;
};

function secondsFor({ size }: Stamp): number {
  return LEAST_SECONDS + Math.ceil(Number(size) / MIB) * SECONDS_EACH_MIB;
}

type Task = {
  workbook: number;
  rows: number;
  /** Processor time. */
  seconds: number;
  sheet: string | undefined;
  signal: AbortSignal | undefined;
};

/** In an installed package Node.js needs help to load TypeScript. */
const STRIP_TYPES = import.meta.dirname.includes('/node_modules/')
  ? ['--import', new URL('../../../bin/strip-types.mjs', import.meta.url).href]
  : [];

/** Passes the workbook to a separate process, which gets nothing else. */
async function runProgram({ workbook, rows, seconds, sheet, signal }: Task): Promise<Outcome> {
  const child = fork(new URL('./sheet-program.ts', import.meta.url), {
    env: {},
    execArgv: [
      ...STRIP_TYPES,
      `--max-old-space-size=${LIMITS.workbookHeap / MIB}`,
      '--max-semi-space-size=8',
    ],
    stdio: ['pipe', 'pipe', 'ignore', rows, workbook, 'ipc'],
    timeout: seconds * 1000 * PATIENCE,
    killSignal: 'SIGKILL',
  });
  using _ = limitProcessorTime(child, seconds);
  const stop = () => void child.kill('SIGTERM');
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    // A process that ended early does not read it; how it ended says why.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(JSON.stringify({ sheet }));
    const said = child.stdout ? await text(child.stdout) : '';
    const [, ended] = await exit;
    if (said !== '') return JSON.parse(said) as Outcome;
    signal?.throwIfAborted();
    if (ended === 'SIGABRT') throw tooLarge('The workbook needs more memory', LIMITS.workbookHeap);
    if (ended === 'SIGKILL') throw tooSlow(seconds);
    throw new Error('the process that reads a workbook ended');
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** Kills a process that used up its processor time: time on the clock would refuse a good workbook on a busy machine. */
function limitProcessorTime(child: ChildProcess, seconds: number): Disposable {
  const look = async () => {
    if ((await processorSecondsOf(child.pid)) > seconds) child.kill('SIGKILL');
  };
  const timer = setInterval(() => void look(), LOOK);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** User and system time of a process, in hundredths in `/proc`; 0 where there is none, and for one that ended. */
async function processorSecondsOf(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the program is in brackets and may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return stat === '' ? 0 : (Number(fields[11]) + Number(fields[12])) / 100;
}

async function* pagesOf(rows: FileHandle): AsyncGenerator<SheetRow[]> {
  let page: SheetRow[] = [];
  for await (const line of rows.readLines({ start: 0, autoClose: false })) {
    page.push(JSON.parse(line) as SheetRow);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  yield page;
}

/** Gone with the process, however it ends. */
async function openNamelessFile(): Promise<FileHandle> {
  const folder = await mkdtemp(path.join(tmpdir(), 'po-sync-sheet-'));
  try {
    return await open(path.join(folder, 'rows'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const REMEDY = 'Save the sheet as CSV (UTF-8), which may have any size.';

function tooLarge(what: string, limit: number): PoSyncError {
  return unreadable('too-large', `${what}; at most ${limit} bytes are allowed.`, { limit }, REMEDY);
}

function tooSlow(limit: number): PoSyncError {
  return unreadable(
    'too-large',
    `The workbook needs more than ${limit} s of processor time.`,
    { limit },
    REMEDY,
  );
}
