import { PoSyncError } from '../../core/errors.ts';
import type { Shell } from '../shell.ts';
import { printJson } from '../terminal/print.ts';

/** A command with its options and subcommands, as far as completion needs them. */
export type CommandTree = {
  name: string;
  summary: string;
  options: string[];
  /** Of each option that needs a value, by both of its flags: the values that it can have; none where it can be any text or file. */
  values: Record<string, readonly string[]>;
  /** Those whose value is a file or folder. */
  files: readonly string[];
  /** What its argument can be; none where that is any text or file. */
  words: readonly string[];
  commands: CommandTree[];
};

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
type CompletionShell = (typeof SHELLS)[number];

/** `completion bash|zsh|fish`: prints the script for a shell. Throws PoSyncError `usage-invalid-argument`. */
export async function completionCommand(
  args: { shell: string; json: boolean },
  program: CommandTree,
  shell: Pick<Shell, 'out'>,
): Promise<number> {
  const known = SHELLS.find((one) => one === args.shell);
  if (known === undefined) {
    throw new PoSyncError(
      'usage-invalid-argument',
      `Completion for ${args.shell} is not supported.`,
      {
        remedy: `Use one of ${SHELLS.join(', ')}.`,
        facts: { shell: args.shell },
      },
    );
  }
  const script = completionScript(known, program);
  if (args.json) printJson(shell, { shell: known, script });
  else shell.out(script);
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
  const visit = (
    command: CommandTree,
    words: string,
    inherited: string[],
  ): { words: string; follow: string[] }[] => {
    const options = [...new Set([...command.options, ...inherited])];
    return [
      {
        words,
        follow: [...command.commands.map(({ name }) => name), ...command.words, ...options],
      },
      ...command.commands.flatMap((child) =>
        visit(child, `${words} ${child.name}`.trim(), options),
      ),
    ];
  };
  return visit(program, '', []);
}

function casesOf(places: ReturnType<typeof placesOf>, assign: (follow: string) => string): string {
  return places
    .map(({ words, follow }) => `    '${words}') ${assign(follow.join(' '))} ;;`)
    .join('\n');
}

/** The values of all options; no two commands have an option with one name and other values. */
function valuesOf({ values, commands }: CommandTree): Record<string, readonly string[]> {
  return Object.assign({}, values, ...commands.map(valuesOf));
}

function filesOf({ files, commands }: CommandTree): string[] {
  return [...files, ...commands.flatMap(filesOf)];
}

/** `--kind) … ;;` for each option with a value, one line for all that take files, and one for those that can have any text. */
function valueCases(
  program: CommandTree,
  assign: (follow: string) => string,
  file: string,
  text: string,
): string {
  const all = Object.entries(valuesOf(program));
  const free = all.filter(([, values]) => values.length === 0).map(([option]) => option);
  const fixed = all.filter(([, values]) => values.length > 0);
  const files = new Set(filesOf(program));
  return [
    ...fixed.map(([option, values]) => `    ${option}) ${assign(values.join(' '))} ;;`),
    `    ${free.filter((option) => files.has(option)).join('|')}) ${file} ;;`,
    `    ${free.filter((option) => !files.has(option)).join('|')}) ${text} ;;`,
  ].join('\n');
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
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
${valueCases(program, (follow) => `follow='${follow}'`, "follow=''", "follow=''; compopt +o default 2>/dev/null")}
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
  case "\${words[CURRENT-1]}" in
${valueCases(program, (follow) => `follow=(${follow})`, 'follow=()', 'return')}
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
    const here =
      names.length === 0 ? at : [...at, `not __fish_seen_subcommand_from ${names.join(' ')}`];
    const condition = here.length === 0 ? '' : ` -n '${here.join('; and ')}'`;
    for (const { name, summary } of command.commands) {
      lines.push(
        `complete -c po-sync -f${condition} -a ${name} -d '${summary.replaceAll("'", "\\'")}'`,
      );
    }
    const anywhere = at.length === 0 ? '' : ` -n '${at.join('; and ')}'`;
    for (const word of command.words) lines.push(`complete -c po-sync -f${anywhere} -a ${word}`);
    for (const option of command.options) {
      const values = command.values[option];
      const text = values?.length === 0 ? '' : ` -a '${values?.join(' ')}'`;
      const value =
        values === undefined ? '' : command.files.includes(option) ? ' -r' : ` -x${text}`;
      lines.push(`complete -c po-sync${anywhere} -l ${option.replace(/^--/, '')}${value}`);
    }
    for (const child of command.commands) visit(child, [...seen, child.name]);
  };
  visit(program, []);
  return `${lines.join('\n')}\n`;
}
