import { PoSyncError, toError } from '../../core/errors.ts';

/** The result of one check of `doctor`. `skipped`: it could not run because an earlier check failed. */
export type Finding = {
  check: string;
  state: 'ok' | 'warn' | 'fail' | 'skipped';
  message: string;
  /** What the reader can do about it. */
  remedy?: string;
};

const made =
  (state: Finding['state']) =>
  (check: string, message: string, remedy?: string): Finding => ({
    check,
    state,
    message,
    ...(remedy === undefined ? {} : { remedy }),
  });

export const fine = made('ok');
export const warn = made('warn');
export const fail = made('fail');
export const skip = made('skipped');

/** A failed check. The remedy of the error takes precedence over `remedy`. */
export function failure(check: string, thrown: unknown, remedy?: string): Finding {
  const error = toError(thrown);
  return fail(
    check,
    error.message,
    (error instanceof PoSyncError ? error.remedy : undefined) ?? remedy,
  );
}

/** A larger difference makes the times in reports and logs misleading. HTTP dates have a resolution of one second. */
const LARGEST_DIFFERENCE = 5_000;

/** `ahead`: milliseconds by which our clock is ahead of the other. */
export function checkClock(check: string, ahead: number): Finding {
  const seconds = (Math.abs(ahead) / 1000).toFixed(1);
  if (Math.abs(ahead) < LARGEST_DIFFERENCE)
    return fine(check, `differs by less than ${LARGEST_DIFFERENCE / 1000} s`);
  const message = `this machine's clock is ${seconds} s ${ahead > 0 ? 'ahead' : 'behind'}`;
  return warn(check, message, 'Synchronize both clocks (chrony, systemd-timesyncd).');
}
