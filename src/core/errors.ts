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

/** Message and remedy of an error, as lines for a terminal. */
export function describe(thrown: unknown): string {
  const error = toError(thrown);
  if (!(error instanceof PoSyncError)) return error.message;
  return error.remedy === undefined ? error.message : `${error.message}\n  ${error.remedy}`;
}
