import { glob, lstat } from 'node:fs/promises';
import path from 'node:path';
import type { ExportSource, InboxSource } from '../config/config.ts';
import { isPattern } from '../config/source-schema.ts';
import { codeOf } from '../core/errors.ts';

/** Programs give such names to what is not for others: hidden files, locks, drafts. */
const PRIVATE = /^[.~#]/;

const DONE = /\.done$/i;

/** Whether a name is one that intake neither takes nor mentions. */
export function isPrivate(name: string, doneFile: boolean): boolean {
  return PRIVATE.test(name) || (doneFile && DONE.test(name));
}

/** In place of the bytes of a name that is not UTF-8, whose file cannot be opened. */
const NOT_UTF8 = '\ufffd';

/** Builds the test of the names that an inbox takes, by its `files`. */
export function takenNames({ files, doneFile }: Pick<InboxSource, 'files' | 'doneFile'>) {
  const patterns = files.map(regExpOf);
  return (name: string): boolean =>
    !isPrivate(name, doneFile) &&
    !name.includes(NOT_UTF8) &&
    patterns.some((pattern) => pattern.test(name));
}

/** `*` stands for any characters, `?` for one. */
function regExpOf(pattern: string): RegExp {
  const text = RegExp.escape(pattern).replaceAll('\\*', '.*').replaceAll('\\?', '.');
  return new RegExp(`^${text}$`, 'isu');
}

/** The file whose presence signals that `name` is complete. */
export function doneFileOf(name: string): string {
  return `${name}.done`;
}

/** Longest name, in bytes, that leaves room for the code of a batch. */
const LONGEST = 255 - '-00000000'.length;

/**
 * `orders.csv` without a batch, `orders-3f2a91c0.csv` with one. Names that are too long are shortened between
 * characters; the extension is kept.
 */
export function uniqueName(name: string, batch: string | undefined): string {
  const [, stem = name, ending = ''] = /^(.+?)((?:\.[A-Za-z0-9]{1,8}){0,2})$/su.exec(name) ?? [];
  const suffix = batch === undefined ? '' : `-${batch.slice(-8)}`;
  return shorten(stem, LONGEST - Buffer.byteLength(ending)) + suffix + ending;
}

function shorten(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const kept = new TextDecoder().decode(Buffer.from(text).subarray(0, bytes));
  return kept.replace(/\ufffd+$/, '');
}

/** What matches the path of an export now. */
export async function filesOf({ path: pattern }: Pick<ExportSource, 'path'>): Promise<string[]> {
  const files: string[] = [];
  for await (const file of matching(pattern))
    if (!isPrivate(path.basename(file), false)) files.push(file);
  return files;
}

async function* matching(pattern: string): AsyncGenerator<string> {
  if (await exists(pattern)) yield pattern;
  else if (isPattern(pattern)) yield* glob(pattern);
}

/** The deepest folder without a wildcard. */
export function watchedFolder(pattern: string): string {
  const steps = path.dirname(pattern).split(path.sep);
  const wild = steps.findIndex(isPattern);
  return (wild < 0 ? steps : steps.slice(0, wild)).join(path.sep) || path.sep;
}

async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}

/** The name of a file among the versions of its source: its path below the first folder of the pattern. */
export function originOf(file: string, { path: pattern }: Pick<ExportSource, 'path'>): string {
  return path.relative(watchedFolder(pattern), file);
}
