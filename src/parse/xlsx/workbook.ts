import { fork } from 'node:child_process';
import type { Hash } from 'node:crypto';
import { once } from 'node:events';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type ErrorFacts, PoSyncError } from '../../core/errors.ts';
import type { Stamp } from '../../core/regular-file.ts';
import { LIMITS } from '../../order/limits.ts';
import { readBytes } from '../bytes.ts';
import { unreadable } from '../unreadable.ts';
import type { SheetRow } from './sheet-row.ts';

export type WorkbookOptions = {
  sheet: string | undefined;
  /** Fed with the file's own bytes. */
  hash?: Hash;
  signal?: AbortSignal | undefined;
};

type Task = { file: Buffer; sheet: string | undefined; fd: number };

type KnownInvalid =
  | { kind: 'written' }
  | { kind: 'refused'; code: string; message: string; remedy?: string; facts?: ErrorFacts };

const MIB = 1024 * 1024;
const PAGE = 1_000;

/** Workbooks are taken apart one at a time: each may need as much memory as all else together. */
let turn: Promise<unknown> = Promise.resolve();

/**
 * The rows of one sheet of an open workbook that hold anything, page by page. It is taken apart by a process of its own
 * into a file without a name, so that only what is being looked at is in memory, however slowly the pages are taken.
 * PoSyncError `unreadable-…` as `writeSheet`, `unreadable-too-large` beyond the limits, `file-changed`.
 */
export async function* readWorkbook(
  handle: FileHandle,
  stamp: Stamp,
  options: WorkbookOptions,
): AsyncGenerator<SheetRow[]> {
  if (stamp.size > LIMITS.workbookBytes) throw tooLarge(`The workbook has ${stamp.size} bytes`, LIMITS.workbookBytes);
  await using lines = await openNamelessFile();
  const taking = turn.then(() => takeApart(handle, stamp, lines.fd, options));
  turn = taking.catch(() => undefined);
  await taking;
  yield* pagesOf(lines);
}

async function takeApart(handle: FileHandle, stamp: Stamp, fd: number, options: WorkbookOptions): Promise<void> {
  const { sheet, hash, signal } = options;
  const chunks: Buffer[] = [];
  for await (const chunk of readBytes(handle, stamp, { gzip: false, ...(hash && { hash }), signal })) {
    chunks.push(Buffer.from(chunk));
  }
  const told = await runProgram({ file: Buffer.concat(chunks), sheet, fd }, signal);
  if (told.kind === 'written') return;
  const { code, message, remedy, facts } = told;
  throw new PoSyncError(code, message, { ...(remedy !== undefined && { remedy }), ...(facts && { facts }) });
}

/** Hands the workbook to a process of its own, which knows nothing else of us. */
async function runProgram({ file, sheet, fd }: Task, signal?: AbortSignal): Promise<KnownInvalid> {
  const child = fork(new URL('./sheet-program.ts', import.meta.url), {
    env: {},
    execArgv: [`--max-old-space-size=${LIMITS.workbookHeap / MIB}`, '--max-semi-space-size=8'],
    stdio: ['pipe', 'pipe', 'ignore', fd, 'ipc'],
  });
  const stop = () => void child.kill('SIGKILL');
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    // A program that ended early does not take all of it; how it ended tells why.
    child.stdin?.on('error', () => undefined);
    child.stdin?.write(`${JSON.stringify({ sheet })}\n`);
    child.stdin?.end(file);
    const said = child.stdout ? await text(child.stdout) : '';
    const [, ended] = await exit;
    if (said !== '') return JSON.parse(said) as KnownInvalid;
    signal?.throwIfAborted();
    if (ended === 'SIGABRT') throw tooLarge('The workbook needs more memory', LIMITS.workbookHeap);
    throw new Error('the program that reads a workbook ended');
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

async function* pagesOf(lines: FileHandle): AsyncGenerator<SheetRow[]> {
  let page: SheetRow[] = [];
  for await (const line of lines.readLines({ start: 0, autoClose: false })) {
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

function tooLarge(what: string, limit: number): PoSyncError {
  const remedy = 'Save the sheet as CSV (UTF-8): that may be of any size.';
  return unreadable('too-large', `${what}; at most ${limit} bytes are allowed.`, { limit }, remedy);
}
