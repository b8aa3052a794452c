import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type ErrorFacts, PoSyncError } from '../../core/errors.ts';
import type { Stamp } from '../../core/regular-file.ts';
import { LIMITS } from '../limits.ts';
import type { Row, WorkbookFacts } from '../record.ts';
import { tooLarge } from '../unreadable.ts';
import type { SheetRow } from './read-sheet.ts';

/** The rows of a workbook, read once; `pages` can be taken again. */
export type OpenWorkbook = AsyncDisposable & {
  facts: WorkbookFacts;
  pages(): AsyncGenerator<Row[]>;
};

type Outcome =
  | { kind: 'written'; facts: WorkbookFacts }
  | { kind: 'refused'; code: string; message: string; remedy?: string; facts?: ErrorFacts };

const MIB = 1024 * 1024;

/** Processor time for any workbook, and for each MiB of it, in seconds: a hundred times what it takes. */
const LEAST_SECONDS = 10;
const SECONDS_EACH_MIB = 10;
/** A process that does nothing at all ends after so many times its processor time. */
const PATIENCE = 30;
/** How often its processor time is looked up, in milliseconds. */
const LOOK = 500;

/** Workbooks are read one at a time: each may need as much memory as everything else together. */
let turn: Promise<unknown> = Promise.resolve();

type OpenOptions = {
  sheet: string | undefined;
  signal: AbortSignal | undefined;
  /** Of processor time. */
  seconds?: number;
};

/**
 * Opens one sheet of an open workbook: the only visible one with data if no name is given. A separate process reads
 * it into a file without a name, so that only the page in use is in memory, however slowly the pages are taken.
 * PoSyncError `unreadable-…`, also beyond the limits of size, memory and time.
 */
export async function openWorkbook(
  handle: FileHandle,
  stamp: Stamp,
  { sheet, signal, seconds = secondsFor(stamp) }: OpenOptions,
): Promise<OpenWorkbook> {
  if (stamp.size > LIMITS.workbook) throw tooLarge('The workbook', LIMITS.workbook, 'bytes');
  const rows = await openNamelessFile();
  const dispose = () => rows.close();
  try {
    const task = { workbook: handle.fd, rows: rows.fd, seconds, sheet, signal };
    const reading = turn.then(() => runProgram(task));
    turn = reading.catch(() => undefined);
    const outcome = await reading;
    if (outcome.kind === 'written')
      return { facts: outcome.facts, pages: () => pagesOf(rows), [Symbol.asyncDispose]: dispose };
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

function secondsFor({ size }: Stamp): number {
  return LEAST_SECONDS + Math.ceil(Number(size) / MIB) * SECONDS_EACH_MIB;
}

type Task = {
  workbook: number;
  rows: number;
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
  signal?.throwIfAborted();
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
    if (ended === 'SIGABRT')
      throw tooLarge('The memory that the workbook needs', LIMITS.workbookHeap, 'bytes');
    if (ended === 'SIGKILL')
      throw tooLarge('The processor time that the workbook needs', seconds, 'seconds');
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

async function* pagesOf(rows: FileHandle): AsyncGenerator<Row[]> {
  let page: Row[] = [];
  for await (const line of rows.readLines({ start: 0, autoClose: false })) {
    page.push({ kind: 'row', ...(JSON.parse(line) as SheetRow) });
    if (page.length < LIMITS.page) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
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
