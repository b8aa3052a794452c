import { PoSyncError } from '../../core/errors.ts';
import type { Shell } from '../shell.ts';
import { printable } from './printable.ts';

/**
 * Makes sure that the person means it: `--yes`, or their own yes at the terminal. False: they said no.
 * Throws PoSyncError `not-confirmed` where nobody can be asked.
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
  throw new PoSyncError('not-confirmed', `${question} Nobody is there to say yes.`, {
    remedy: 'Say --yes if it is meant; --dry-run only tells what would be done.',
  });
}
