import { execFileSync } from 'node:child_process';

/** Whether this machine lets a test mount a small disk, in a separate mount namespace. */
export const canMount = (() => {
  try {
    execFileSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();
