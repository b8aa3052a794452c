import { type Command, InvalidArgumentError, Option } from 'commander';
import { KINDS } from './dead-letter-filter.ts';
import type { Shell } from './shell.ts';
import { readSince } from './since.ts';

type Done = (code: number) => void;

/** Adds what an operator does beside the daemon. */
export function addOperateCommands(program: Command, shell: Shell, done: Done): void {
  program
    .command('status')
    .description('daemons, sources, queue, batches under way, token, pauses')
    .action(async (_, command: Command) =>
      done(await (await import('./commands/status.ts')).statusCommand(command.optsWithGlobals(), shell)),
    );
  program
    .command('explain')
    .description("one order's whole history")
    .argument('<order>', 'order number')
    .action(async (order: string, _, command: Command) =>
      done(
        await (await import('./commands/explain.ts')).explainCommand({ ...command.optsWithGlobals(), order }, shell),
      ),
    );
  addBatches(program, shell, done);
  addDeadLetters(program, shell, done);
  addReconcile(program, shell, done);
  program
    .command('pause')
    .description('hold delivery while files go on being taken')
    .option('--reason <text>', 'why, for everybody who asks')
    .action(async (_, command: Command) =>
      done(await (await import('./commands/pause.ts')).pauseCommand(command.optsWithGlobals(), shell)),
    );
  program
    .command('resume')
    .description('end the pause')
    .action(async (_, command: Command) =>
      done(await (await import('./commands/resume.ts')).resumeCommand(command.optsWithGlobals(), shell)),
    );
  program
    .command('doctor')
    .description('look at configuration, folders, Redis, token, API and clock, each with its mend')
    .action(async (_, command: Command) =>
      done(await (await import('./commands/doctor.ts')).doctorCommand(command.optsWithGlobals(), shell)),
    );
}

function addBatches(program: Command, shell: Shell, done: Done): void {
  const batches = program.command('batches').description('what became of each file');
  limited(batches.command('list'), 20)
    .description('the newest batches')
    .option('--since <time>', 'taken since: 24h, 7d, 2026-11-21', readSince)
    .option('--open', 'only those that need a person', false)
    .action(async (_, command: Command) =>
      done(await (await import('./commands/batches.ts')).batchesListCommand(command.optsWithGlobals(), shell)),
    );
  batches
    .command('show')
    .description('one batch')
    .argument('<batch>', 'its name, or how it ends')
    .action(async (batch: string, _, command: Command) =>
      done(
        await (await import('./commands/batches.ts')).batchesShowCommand(
          { ...command.optsWithGlobals(), batch },
          shell,
        ),
      ),
    );
  acting(batches.command('release'))
    .description('let a held batch go on')
    .argument('<batch>', 'its name, or how it ends')
    .action(async (batch: string, _, command: Command) =>
      done(
        await (await import('./commands/batches.ts')).batchesReleaseCommand(
          { ...command.optsWithGlobals(), batch },
          shell,
        ),
      ),
    );
  acting(batches.command('cancel'))
    .description('take back what was certainly never sent')
    .argument('<batch>', 'its name, or how it ends')
    .action(async (batch: string, _, command: Command) =>
      done(
        await (await import('./commands/batches.ts')).batchesCancelCommand(
          { ...command.optsWithGlobals(), batch },
          shell,
        ),
      ),
    );
}

function addDeadLetters(program: Command, shell: Shell, done: Done): void {
  const deadLetters = program.command('dead-letters').description('orders that need a person');
  limited(filtered(deadLetters.command('list')), 50)
    .description('which, why, and of which kinds')
    .option('--all', 'closed ones too', false)
    .action(async (_, command: Command) =>
      done(
        await (await import('./commands/dead-letters-list.ts')).deadLettersListCommand(
          command.optsWithGlobals(),
          shell,
        ),
      ),
    );
  acting(filtered(deadLetters.command('retry')))
    .description('send them again as they are, after a look at ledger and list')
    .option('--rate <orders>', 'at most so many orders a second', whole)
    .action(async (_, command: Command) =>
      done(
        await (await import('./commands/dead-letters-retry.ts')).deadLettersRetryCommand(
          command.optsWithGlobals(),
          shell,
        ),
      ),
    );
  acting(filtered(deadLetters.command('discard')))
    .description('give them up; their numbers are free again')
    .action(async (_, command: Command) =>
      done(
        await (await import('./commands/dead-letters-discard.ts')).deadLettersDiscardCommand(
          command.optsWithGlobals(),
          shell,
        ),
      ),
    );
  acting(deadLetters.command('resolve'))
    .description('settle an order in doubt')
    .argument('<order>', 'order number')
    .addOption(
      new Option('--as <what>', 'accepted: the API has it; resend: it does not')
        .choices(['accepted', 'resend'])
        .makeOptionMandatory(),
    )
    .action(async (order: string, _, command: Command) =>
      done(
        await (await import('./commands/dead-letters-resolve.ts')).deadLettersResolveCommand(
          { ...command.optsWithGlobals(), order },
          shell,
        ),
      ),
    );
}

function addReconcile(program: Command, shell: Shell, done: Done): void {
  limited(program.command('reconcile'), 50)
    .description("compare the ledger with the API's list")
    .option('--repair', 'take over what the API has', false)
    .option('--without-list', 'with --repair: go on after a rollback though there is no list', false)
    .option('-y, --yes', 'do it without asking', false)
    .action(async (_, command: Command) =>
      done(await (await import('./commands/reconcile.ts')).reconcileCommand(command.optsWithGlobals(), shell)),
    );
}

function filtered(command: Command): Command {
  return command
    .option('--batch <batch>', 'of this batch: its name, or how it ends')
    .option('--kind <kind>', KINDS.join(', '))
    .option('--signature <signature>', 'errors of one kind')
    .option('--since <time>', 'last answer since: 24h, 7d, 2026-11-21', readSince)
    .option('--order <number>', 'this order');
}

function acting(command: Command): Command {
  return command
    .option('--dry-run', 'only tell what would be done', false)
    .option('-y, --yes', 'do it without asking', false);
}

function limited(command: Command, most: number): Command {
  return command.addOption(new Option('--limit <count>', 'lines shown').default(most).argParser(whole));
}

function whole(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Say a whole number, such as 100.');
  return Number(text);
}
