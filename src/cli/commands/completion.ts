import { PoSyncError } from '../../core/errors.ts';
import { type CommandTree, completionScript, SHELLS } from '../completion-script.ts';
import type { Shell } from '../shell.ts';

/** `completion bash|zsh|fish`: prints the script for a shell. Throws PoSyncError `usage-invalid-argument`. */
export async function completionCommand(
  args: { shell: string },
  program: CommandTree,
  shell: Pick<Shell, 'out'>,
): Promise<number> {
  const known = SHELLS.find((one) => one === args.shell);
  if (known === undefined) {
    throw new PoSyncError('usage-invalid-argument', `Completion for ${args.shell} is not supported.`, {
      remedy: `Use one of ${SHELLS.join(', ')}.`,
      facts: { shell: args.shell },
    });
  }
  shell.out(completionScript(known, program));
  return 0;
}
