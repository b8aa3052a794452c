import { PoSyncError } from '../../core/errors.ts';
import type { Shell } from '../shell.ts';
import { printable } from './print.ts';

/**
 * Makes sure that the person agrees: `--yes`, or "y" at the terminal. False: they declined.
 * Throws PoSyncError `not-confirmed` if nobody can be asked.
 */
export async function confirmation(
  asked: string,
  { yes, json }: { yes: boolean; json: boolean },
  shell: Pick<Shell, 'ask'>,
): Promise<boolean> {
  if (yes) return true;
  const question = printable(asked);
  const answer = json ? undefined : await shell.ask(`${question} [y/N] `);
  if (answer !== undefined) return /^y(es)?$/i.test(answer.trim());
  throw new PoSyncError('not-confirmed', `${question} Confirmation required.`, {
    remedy: 'Run again with --yes, or with --dry-run to see what would happen.',
  });
}
