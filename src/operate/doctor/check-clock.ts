import type { Finding } from './finding.ts';

/** Beyond these the stamps of reports and logs mislead. Headers tell whole seconds. */
const DOUBTFUL = 5_000;

/** `ahead`: milliseconds by which our clock is ahead of theirs. */
export function checkClock(check: string, ahead: number): Finding {
  const seconds = (Math.abs(ahead) / 1000).toFixed(1);
  if (Math.abs(ahead) < DOUBTFUL) return { check, state: 'ok', message: `within ${DOUBTFUL / 1000} s of ours` };
  const message = `ours is ${seconds} s ${ahead > 0 ? 'ahead' : 'behind'}`;
  return { check, state: 'warn', message, remedy: 'Keep both on network time (chrony, systemd-timesyncd).' };
}
