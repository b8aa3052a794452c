import { PoSyncError, toError } from '../../core/errors.ts';

/** What one check of `doctor` found. `skipped`: it could not be done because an earlier one failed. */
export type Finding = {
  check: string;
  state: 'ok' | 'warn' | 'fail' | 'skipped';
  message: string;
  /** What the reader can do about it. */
  remedy?: string;
};

/** A failed check from what was thrown. */
export function failure(check: string, thrown: unknown, remedy?: string): Finding {
  const error = toError(thrown);
  const known = error instanceof PoSyncError ? error.remedy : undefined;
  const told = known ?? remedy;
  return { check, state: 'fail', message: error.message, ...(told === undefined ? {} : { remedy: told }) };
}
