import { PoSyncError } from '../../core/errors.ts';
import type { Shell } from '../shell.ts';

/** A command with its options and subcommands, as far as completion needs them. */
export type CommandTree = { name: string; summary: string; options: string[]; commands: CommandTree[] };

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
type CompletionShell = (typeof SHELLS)[number];

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

/** The script that completes commands and options of the program in a shell. Files complete where nothing else fits. */
function completionScript(shell: CompletionShell, program: CommandTree): string {
  switch (shell) {
    case 'bash':
      return bashScript(program);
    case 'zsh':
      return zshScript(program);
    case 'fish':
      return fishScript(program);
  }
}

/** Each command by the words that lead to it (`''`, `batches`, `batches list`), with what may follow. */
function placesOf(program: CommandTree): { words: string; follow: string[] }[] {
  const visit = (command: CommandTree, words: string, inherited: string[]): { words: string; follow: string[] }[] => {
    const options = [...new Set([...command.options, ...inherited])];
    return [
      { words, follow: [...command.commands.map(({ name }) => name), ...options] },
      ...command.commands.flatMap((child) => visit(child, `${words} ${child.name}`.trim(), options)),
    ];
  };
  return visit(program, '', []);
}

function casesOf(places: ReturnType<typeof placesOf>, assign: (follow: string) => string): string {
  return places.map(({ words, follow }) => `    '${words}') ${assign(follow.join(' '))} ;;`).join('\n');
}

function pathPattern(places: ReturnType<typeof placesOf>): string {
  const known = places.filter(({ words }) => words !== '').map(({ words }) => `'${words}'`);
  return known.join('|');
}

function bashScript(program: CommandTree): string {
  const places = placesOf(program);
  return `# Completion of po-sync for bash. To load it, add to ~/.bashrc: source <(po-sync completion bash)
_po_sync() {
  local current="\${COMP_WORDS[COMP_CWORD]}" place='' next='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${place:+$place }\${COMP_WORDS[i]}"
    case "$next" in
      ${pathPattern(places)}) place="$next" ;;
    esac
  done
  local follow=''
  case "$place" in
${casesOf(places, (follow) => `follow='${follow}'`)}
  esac
  COMPREPLY=($(compgen -W "$follow" -- "$current"))
}
complete -o default -F _po_sync po-sync
`;
}

function zshScript(program: CommandTree): string {
  const places = placesOf(program);
  return `#compdef po-sync
# Completion of po-sync for zsh. To load it, add to ~/.zshrc after compinit: source <(po-sync completion zsh)
_po_sync() {
  local place='' next='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    next="\${place:+$place }$word"
    case "$next" in
      ${pathPattern(places)}) place="$next" ;;
    esac
  done
  local -a follow
  case "$place" in
${casesOf(places, (follow) => `follow=(${follow})`)}
  esac
  compadd -- $follow || _files
}
compdef _po_sync po-sync
`;
}

function fishScript(program: CommandTree): string {
  const lines = ['# Completion of po-sync for fish. To load it: po-sync completion fish | source'];
  const visit = (command: CommandTree, seen: string[]): void => {
    const names = command.commands.map(({ name }) => name);
    const at = seen.map((name) => `__fish_seen_subcommand_from ${name}`);
    const here = names.length === 0 ? at : [...at, `not __fish_seen_subcommand_from ${names.join(' ')}`];
    const condition = here.length === 0 ? '' : ` -n '${here.join('; and ')}'`;
    for (const { name, summary } of command.commands) {
      lines.push(`complete -c po-sync -f${condition} -a ${name} -d '${summary.replaceAll("'", "\\'")}'`);
    }
    const anywhere = at.length === 0 ? '' : ` -n '${at.join('; and ')}'`;
    for (const option of command.options) lines.push(`complete -c po-sync${anywhere} -l ${option.replace(/^--/, '')}`);
    for (const child of command.commands) visit(child, [...seen, child.name]);
  };
  visit(program, []);
  return `${lines.join('\n')}\n`;
}
