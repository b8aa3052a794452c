import { codeOf } from '../../src/core/errors.ts';

/** Sends a signal to a process of which it is enough that it has ended: it may have since it was seen. */
export function killProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}
