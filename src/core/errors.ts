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

  constructor(code: string, message: string, more: { remedy?: string; facts?: ErrorFacts; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.remedy = more.remedy;
    this.facts = more.facts ?? {};
  }
}

/** Any thrown value as an Error. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The code of a system or library error (`ENOENT`, `UND_ERR_SOCKET`), or undefined. */
export function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** What to do about the state of the machine that a system error reports. */
const MACHINE: Record<string, string> = {
  ENOSPC: 'Free some space on its disk.',
  EDQUOT: 'Raise the quota of the user of po-sync, or free some of its space.',
  EROFS: 'Mount its file system for writing.',
  EACCES: 'Give the user of po-sync permission.',
  EPERM: 'Give the user of po-sync permission.',
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
  const path = 'path' in error && typeof error.path === 'string' ? { path: error.path } : {};
  return new PoSyncError(`machine-${code.toLowerCase()}`, `${error.message}.`, { remedy, facts: path, cause: error });
}

/** Message and remedy of a network error in one line; of nested errors (several addresses tried), the first. */
export function reasonOf(error: Error): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0].message;
  if (error instanceof PoSyncError && error.remedy !== undefined) return `${error.message} ${error.remedy}`;
  return error.message || error.name;
}

/** Message and remedy of an error, as lines for a terminal. */
export function describe(thrown: unknown): string {
  const error = toError(thrown);
  if (!(error instanceof PoSyncError)) return error.message;
  return error.remedy === undefined ? error.message : `${error.message}\n  ${error.remedy}`;
}
