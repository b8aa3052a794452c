import { PoSyncError, toError } from '../../core/errors.ts';

/** What one check of `doctor` found. `skipped`: it could not be done because an earlier one failed. */
export type Finding = {
  check: string;
  state: 'ok' | 'warn' | 'fail' | 'skipped';
  message: string;
  /** What the reader can do about it. */
  mend?: string;
};

/** A failed check from what was thrown. */
export function failure(check: string, thrown: unknown, mend?: string): Finding {
  const error = toError(thrown);
  const known = error instanceof PoSyncError ? error.mend : undefined;
  const told = known ?? mend;
  return { check, state: 'fail', message: error.message, ...(told === undefined ? {} : { mend: told }) };
}
