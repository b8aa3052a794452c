import { Command, CommanderError, type Option } from 'commander';
import { errorDocument, PoSyncError } from '../core/errors.ts';
import { versionOf } from '../core/version.ts';
import { explainRedisError } from '../redis/connection-end.ts';
import { completionCommand, SHELLS } from './commands/completion.ts';
import {
  addCommand,
  addToList,
  type CommandDefinition,
  helpEnd,
} from './commands/definitions/command-definition.ts';
import { DAEMON_COMMANDS } from './commands/definitions/environment-commands.ts';
import { OPERATION_COMMANDS } from './commands/definitions/operation-commands.ts';
import type { Shell } from './shell.ts';
import { errorText, printJson } from './terminal/print.ts';

const GROUPS = {
  config: 'The resolved configuration and its schema.',
  batches: 'What happened to each file.',
  'dead-letters': 'Orders that need a person.',
} as const;

const GROUP_EXAMPLES: Record<keyof typeof GROUPS, string[]> = {
  config: ['po-sync config show'],
  batches: ['po-sync batches list --open'],
  'dead-letters': ['po-sync dead-letters list'],
};

/** Every command but `completion`. */
export const COMMANDS: readonly CommandDefinition[] = [...DAEMON_COMMANDS, ...OPERATION_COMMANDS];

/** Runs the program to its exit code. Prints an error as text or, with `--json`, as `{error: {…}}`. */
export async function runProgram(shell: Shell): Promise<number> {
  const isJson = wantsJson(shell.argv);
  try {
    return await runCommandLine(shell, isJson);
  } catch (thrown) {
    const error = explainRedisError(thrown);
    if (isJson) printJson(shell, { error: errorDocument(error) });
    else shell.err(errorText(error, shell.isTTY ? shell.columns : undefined));
    return 1;
  }
}

function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json');
}

/** Parses the command line and runs its command. Throws PoSyncError for everything that the user can fix. */
async function runCommandLine(shell: Shell, isJson: boolean): Promise<number> {
  let code = 0;
  let shown = '';
  const keep = (text: string) => {
    shown += text;
  };
  const run = async (result: Promise<number>) => {
    code = await result;
  };
  const program = createProgram(shell, isJson, run, isJson ? keep : shell.out);
  try {
    await program.parseAsync(withoutHelp(shell.argv, program), { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (isJson)
      printJson(
        shell,
        error.code === 'commander.version' ? { version: versionOf() } : { help: shown },
      );
    return error.exitCode;
  }
}

/** `help a b` as `a b --help`, so that an unknown command is an error here too: `help frob` fails in the same way as `frob`. */
function withoutHelp([first, ...words]: readonly string[], program: Command): string[] {
  if (first !== 'help') return first === undefined ? [] : [first, ...words];
  let command: Command | undefined = program;
  const names = words.filter((word) => !word.startsWith('-'));
  for (const name of names) {
    if (command.commands.length === 0) break;
    command = command.commands.find((one) => one.name() === name);
    if (command === undefined) return words;
  }
  return [...words, '--help'];
}

type Run = (result: Promise<number>) => Promise<void>;

/** `out`: where help and version are written. */
function createProgram(shell: Shell, isJson: boolean, run: Run, out: Shell['out']): Command {
  const program = new Command('po-sync')
    .description(
      'Delivers purchase orders from files to the Purchase-Order API, each exactly once.',
    )
    .version(versionOf(), '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .option(
      '-c, --config <file>',
      'configuration file (or PO_SYNC_CONFIG; default: config/po-sync.yaml)',
    )
    .option('-e, --environment <name>', 'environment to work on (or PO_SYNC_ENVIRONMENT)')
    .option('--confirm <name>', 'confirm work on a protected environment (or PO_SYNC_CONFIRM)')
    .option('--json', 'print one JSON document on standard output, errors included')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: out,
      writeErr: isJson ? () => undefined : shell.err,
      outputError: () => undefined,
      getOutHelpWidth: () => shell.columns,
      getErrHelpWidth: () => shell.columns,
    })
    .addHelpText(
      'after',
      helpEnd(['po-sync doctor', 'po-sync check orders.csv', 'po-sync status'], EXITS),
    );
  for (const definition of COMMANDS) {
    addCommand(program, definition, GROUPS, run, shell);
  }
  addCommand(program, completion(program), GROUPS, run, shell);
  for (const [name, examples] of Object.entries(GROUP_EXAMPLES)) {
    program.commands
      .find((one) => one.name() === name)
      ?.addHelpText('after', helpEnd(examples, EXITS));
  }
  inherit(program);
  throwUsageErrors(program, isJson);
  refuseRepeated(program);
  return program;
}

const EXITS = [
  ['0', 'all is well'],
  ['1', 'the command could not do its work'],
  ['2', 'it did its work, and orders or files need a person, or remain'],
] as const;

/** Completion lists the commands of the program that it is part of. */
function completion(program: Command): CommandDefinition {
  return {
    name: 'completion',
    summary: 'Print the completion script of a shell.',
    argument: { flags: '<shell>', key: 'shell', text: SHELLS.join(', ') },
    examples: ['source <(po-sync completion bash)', 'source <(po-sync completion zsh)'],
    exits: [
      ['0', 'printed'],
      ['1', 'the shell is not supported'],
    ],
    load: async () => (args: { shell: string; json: boolean }, shell) =>
      completionCommand(args, program, shell),
  };
}

/** Subcommands print help in the same way as the program. */
function inherit(parent: Command): void {
  for (const child of parent.commands) {
    child.copyInheritedSettings(parent);
    inherit(child);
  }
}

/** A wrong command line throws a PoSyncError that names the help of the current command. */
function throwUsageErrors(command: Command, isJson: boolean, path = 'po-sync'): void {
  command.exitOverride((error) => {
    const isHelp = error.exitCode === 0 || (error.code === 'commander.help' && !isJson);
    throw isHelp ? error : usageError(error, path);
  });
  for (const child of command.commands) throwUsageErrors(child, isJson, `${path} ${child.name()}`);
}

/** Of an option that is given twice only the last value would count, unless it keeps all. */
function refuseRepeated(command: Command): void {
  const isSingle = ({ required, variadic, parseArg }: Option) =>
    required && !variadic && parseArg !== addToList;
  for (const option of command.options.filter(isSingle)) {
    let times = 0;
    command.on(`option:${option.name()}`, () => {
      times += 1;
      if (times > 1) {
        const message = `option '${option.flags}' takes one value, and is given more than once; run the command once for each`;
        command.error(message, { code: 'commander.repeatedOption' });
      }
    });
  }
  for (const child of command.commands) refuseRepeated(child);
}

/** The message is the one of commander. */
function usageError({ code, message }: CommanderError, path: string): PoSyncError {
  const facts = { command: path };
  const remedy = `Try \`${path} --help\`.`;
  if (code === 'commander.help')
    return new PoSyncError('usage-missing-command', `${path} needs a subcommand.`, {
      remedy,
      facts,
    });
  const kind = code
    .replace(/^commander\./, '')
    .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  // Commander has no setting for the first word, and breaks the line before a suggestion.
  const said = message.replace('error: ', '').replace('\n', ' ');
  return new PoSyncError(`usage-${kind}`, said, { remedy, facts });
}
