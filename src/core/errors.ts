import { showPaths } from './shown-path.ts';

/** Facts of an error for programs: file, line, column, address, value. */
export type ErrorFacts = Record<string, string | number | boolean>;

/**
 * The error that po-sync throws deliberately. `code` is stable, `message` says what is wrong and where, `remedy` says
 * what to do.
 */
export class PoSyncError extends Error {
  override readonly name = 'PoSyncError';
  readonly code: string;
  readonly remedy: string | undefined;
  readonly facts: ErrorFacts;

  constructor(
    code: string,
    message: string,
    more: { remedy?: string; facts?: ErrorFacts; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.remedy = more.remedy;
    this.facts = more.facts ?? {};
  }
}

/** A signal ended the wait of a command. */
export function interruption(message: string): PoSyncError {
  return new PoSyncError('interrupted', message, { remedy: 'Run the command again.' });
}

/** Any thrown value as an Error, with the paths that people know. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? showPaths(thrown) : new Error(String(thrown));
}

/** The code of a system or library error (`ENOENT`, `UND_ERR_SOCKET`), or undefined. */
export function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** What to do about the state of the machine that a system error reports. */
const MACHINE: Record<string, string> = {
  ENOSPC: 'Free some space on its disk.',
  EDQUOT: 'Raise the disk quota of the user that runs po-sync, or delete some of its files.',
  EROFS: 'Mount its file system for writing.',
  EACCES: 'Give the user that runs po-sync permission for this file or folder.',
  EPERM: 'Give the user that runs po-sync permission for this file or folder.',
  EMFILE: 'Raise the limit of open files (`ulimit -n`).',
  ENFILE: 'Raise the limit of open files of this machine (`fs.file-max`).',
  ENOMEM: 'Give the process more memory.',
  EIO: 'Check the disk or the network share.',
  ESTALE: 'Check the network share.',
};

/** A system error that describes the machine as a PoSyncError `machine-…` with a remedy; any other error unchanged. */
export function explained(thrown: unknown): Error {
  const error = toError(thrown);
  const code = codeOf(thrown) ?? '';
  const remedy = MACHINE[code];
  if (error instanceof PoSyncError || remedy === undefined) return error;
  const facts = 'path' in error && typeof error.path === 'string' ? { path: error.path } : {};
  return new PoSyncError(`machine-${code.toLowerCase()}`, `${error.message}.`, {
    remedy,
    facts,
    cause: error,
  });
}

/** Message and remedy of a network error in one line; of nested errors (several addresses tried), the first. */
export function reasonOf(error: Error): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error)
    return error.errors[0].message;
  if (error instanceof PoSyncError && error.remedy !== undefined)
    return `${error.message} ${error.remedy}`;
  return error.message || error.name;
}

/** Message and remedy of an error, as lines for a terminal. */
export function describe(thrown: unknown): string {
  const error = toError(thrown);
  if (!(error instanceof PoSyncError)) return error.message;
  return error.remedy === undefined ? error.message : `${error.message}\n  ${error.remedy}`;
}

/** An error in JSON output. `internal` is an error that po-sync did not expect: a bug. */
export type ErrorDocument = {
  code: string;
  message: string;
  remedy: string | null;
  facts: ErrorFacts;
};

const BUG = 'This is a defect of po-sync. Report it with this message and the command.';

export function errorDocument(thrown: unknown): ErrorDocument {
  const error = explained(thrown);
  const { message } = error;
  if (!(error instanceof PoSyncError)) return { code: 'internal', message, remedy: BUG, facts: {} };
  return { code: error.code, message, remedy: error.remedy ?? null, facts: error.facts };
}
