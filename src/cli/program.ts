import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../config/duration.ts';
import { describe, PoSyncError, toError } from '../core/errors.ts';
import type { SandboxArgs } from './commands/sandbox.ts';
import { addOperateCommands } from './operate-commands.ts';
import type { Shell } from './shell.ts';
import { versionOf } from './version.ts';

type Common = { config?: string; environment?: string; confirm?: string; json: boolean };

/** Runs the program to its exit code; an error is printed, as JSON where the command line asks for it. */
export async function runProgram(shell: Shell): Promise<number> {
  try {
    return await runCommandLine(shell);
  } catch (error) {
    if (shell.argv.includes('--json')) shell.out(`${JSON.stringify({ error: documentOf(error) })}\n`);
    // A user can fix a PoSyncError, which takes a line or two; anything else is a bug and shows its stack.
    else shell.err(`po-sync: ${error instanceof PoSyncError ? describe(error) : (toError(error).stack ?? error)}\n`);
    return 1;
  }
}

function documentOf(error: unknown): object {
  const { code, facts, remedy } =
    error instanceof PoSyncError ? error : { code: 'internal', facts: {}, remedy: undefined };
  return { code, message: toError(error).message, remedy, facts };
}

/**
 * Reads the command line, runs the command (whose code is loaded only then) and gives its exit code.
 * Throws PoSyncError for what the user can mend.
 */
async function runCommandLine(shell: Shell): Promise<number> {
  let code = 0;
  const program = build(shell, (given) => {
    code = given;
  });
  try {
    await program.parseAsync([...shell.argv], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1;
    throw error;
  }
}

function build(shell: Shell, done: (code: number) => void): Command {
  const program = new Command('po-sync')
    .description('Delivers purchase orders from files to the Purchase-Order API, each created once.')
    .version(versionOf(), '-V, --version')
    .option('-c, --config <file>', 'configuration file (or PO_SYNC_CONFIG; config/po-sync.yaml)')
    .option('-e, --environment <name>', 'environment to work on (or PO_SYNC_ENVIRONMENT)')
    .option('--confirm <name>', 'confirms work on a protected environment (or PO_SYNC_CONFIRM)')
    .option('--json', 'one JSON document on standard output, nothing else', false)
    .exitOverride()
    .showHelpAfterError('Try po-sync --help.')
    .configureOutput({ writeOut: shell.out, writeErr: shell.err, outputError: (text, write) => write(text) });

  program
    .command('start')
    .description('run the daemon; with --once take what is there now and end')
    .option('--once', 'for cron, CI and people: end when nothing is left to do', false)
    .addOption(
      new Option('--max-wait <duration>', 'how long --once waits through pauses')
        .default(900_000, '15m')
        .argParser(duration),
    )
    .action(async (_, command: Command) =>
      done(await (await import('./commands/start.ts')).startCommand(command.optsWithGlobals(), shell)),
    );

  program
    .command('check')
    .description('read, map and validate files; touches neither Redis nor network')
    .argument('<file...>', 'order files')
    .option('--source <name>', 'the source whose mapping applies')
    .action(async (files: string[], _, command: Command) => {
      const args = command.optsWithGlobals<Common & { source?: string }>();
      const { openConfig } = await import('./load-config.ts');
      const { config } = await openConfig(args, shell, { confirm: false });
      done(await (await import('./commands/check.ts')).checkCommand({ ...args, files }, shell, config));
    });

  const config = program.command('config').description('the configuration as resolved, and its schema');
  config
    .command('show')
    .description('the configuration as resolved, secrets redacted')
    .action(async (_, command: Command) =>
      done(await (await import('./commands/config.ts')).configShowCommand(command.optsWithGlobals(), shell)),
    );
  config
    .command('schema')
    .description('the JSON Schema of the configuration file')
    .action(async (_, command: Command) =>
      done(await (await import('./commands/config.ts')).configSchemaCommand(command.optsWithGlobals(), shell)),
    );

  addOperateCommands(program, shell, done);
  sandboxOptions(
    program.command('sandbox').description('the reference Purchase-Order API, to rehearse against'),
  ).action(async (_, command: Command) =>
    done(await (await import('./commands/sandbox.ts')).sandboxCommand(command.optsWithGlobals<SandboxArgs>(), shell)),
  );
  inherit(program);
  return program;
}

function sandboxOptions(command: Command): Command {
  return command
    .option('--port <port>', 'port of the API (any free one)')
    .option('--auth-port <port>', 'the token endpoint on a port of its own')
    .option('--host <address>', 'address to listen on')
    .option('--token-path <path>', '/oauth2/token or /oauth/token')
    .option('--scopes <names>', 'scopes that the client may have, e.g. "read write"')
    .option('--data <folder>', 'where its data is kept')
    .option('--allow-ip <cidr...>', 'answer only these addresses')
    .option('--on-duplicate <what>', 'accept or refuse a number that exists already')
    .option('--faults <file>', 'rehearse faults as the file says')
    .option('--record', 'open GET /rehearsal on the auth address')
    .option('--token-lifetime <seconds>', 'how long tokens are good')
    .option('--list-shape <shape>', 'array or object')
    .option('--list-items <yes|no>', 'whether the list shows items');
}

/** Subcommands answer errors and output the way the program does. */
function inherit(parent: Command): void {
  for (const child of parent.commands) {
    child.copyInheritedSettings(parent);
    inherit(child);
  }
}

/** Durations as in the configuration: 250ms, 30s, 5m, 1h, 90d. */
function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('A duration is like 30s, 15m or 1h.');
  return ms;
}
