import type { Command } from 'commander';
import { PoSyncError } from '../../core/errors.ts';
import type { Shell } from '../shell.ts';
import { printJson } from '../terminal/print.ts';

/** zsh runs the script of bash. */
const SCRIPTS = {
  bash: (program: Command) => bashScript(program),
  zsh: (program: Command) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(program)}`,
} as const;

export const SHELLS = Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[];

/** `completion bash|zsh`: prints the script for a shell. Throws PoSyncError `usage-invalid-argument`. */
export async function completionCommand(
  args: { shell: string; json: boolean },
  program: Command,
  shell: Pick<Shell, 'out'>,
): Promise<number> {
  const known = SHELLS.find((one) => one === args.shell);
  if (known === undefined) {
    throw new PoSyncError(
      'usage-invalid-argument',
      `Completion for ${args.shell} is not supported.`,
      { remedy: `Use one of ${SHELLS.join(', ')}.`, facts: { shell: args.shell } },
    );
  }
  const script = SCRIPTS[known](program);
  if (args.json) printJson(shell, { shell: known, script });
  else shell.out(script);
  return 0;
}

/** What may follow the words that lead to a command (`''`, `batches`, `batches list`). */
type Place = { words: string; commands: string; options: string };

function placesOf(command: Command, words = ''): Place[] {
  const help = command.createHelp();
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  const place = {
    words,
    commands: command.commands.map((child) => child.name()).join(' '),
    options: options.map(({ long }) => long).join(' '),
  };
  const children = command.commands.map((child) =>
    placesOf(child, `${words} ${child.name()}`.trim()),
  );
  return [place, ...children.flat()];
}

/** Files complete where nothing else fits. */
function bashScript(program: Command): string {
  const places = placesOf(program);
  return `_po_sync() {
  local place='' commands='' options='' word
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "\${place:+$place }$word" in
      ${places.flatMap(({ words }) => (words === '' ? [] : [`'${words}'`])).join('|')}) place="\${place:+$place }$word" ;;
    esac
  done
  case "$place" in
${places.map(({ words, commands, options }) => `    '${words}') commands='${commands}'; options='${options}' ;;`).join('\n')}
  esac
  case "$2" in -*) commands="$options" ;; esac
  COMPREPLY=($(compgen -W "$commands" -- "$2"))
}
complete -o default -F _po_sync po-sync
`;
}
