import type { CommandDefinition, ExitCode } from '../command-definition.ts';
import { readWhole } from '../option-values.ts';
import { LIMIT, YES } from './order-commands.ts';

const COULD_NOT: ExitCode = ['1', 'the configuration is wrong, or Redis is not reachable'];

/** Commands about an environment as a whole. */
export const ENVIRONMENT_COMMANDS: readonly CommandDefinition[] = [
  {
    name: 'status',
    summary: 'Show daemons, sources, queue, batches in progress, unreadable files, token and pauses.',
    options: [{ flags: '--watch', text: 'repeat every 2 s until Ctrl-C' }],
    examples: ['po-sync status', 'po-sync status --watch', 'po-sync status --json | jq .deadLetters'],
    exits: [['0', 'shown, whatever the state'], COULD_NOT],
    load: async () => (await import('../commands/status.ts')).statusCommand,
  },
  {
    name: 'reconcile',
    summary: "Compare the ledger with the API's list.",
    options: [
      { flags: '--limit <count>', text: `${LIMIT} of each kind (default: 50; with --json all)`, parse: readWhole },
      { flags: '--repair', text: 'add to the ledger what only the API has' },
      { flags: '--without-list', text: 'with --repair: resume delivery after a rollback if the API offers no list' },
      YES,
    ],
    examples: ['po-sync reconcile', 'po-sync reconcile --repair --yes'],
    exits: [
      ['0', 'ledger and API agree'],
      ['1', 'the list could not be read, or the repair was not confirmed'],
      ['2', 'they differ, also after --repair'],
    ],
    load: async () => (await import('../commands/reconcile.ts')).reconcileCommand,
  },
  {
    name: 'pause',
    summary: 'Pause delivery. Files are still taken.',
    options: [{ flags: '--reason <text>', text: 'shown wherever the pause is shown' }],
    examples: ['po-sync pause --reason "API maintenance until 18:00"'],
    exits: [['0', 'delivery is paused'], COULD_NOT],
    load: async () => (await import('../commands/pause.ts')).pauseCommand,
  },
  {
    name: 'resume',
    summary: 'End a pause.',
    examples: ['po-sync resume', 'po-sync resume --environment production --confirm production'],
    exits: [['0', "no operator's pause is left"], COULD_NOT],
    load: async () => (await import('../commands/resume.ts')).resumeCommand,
  },
  {
    name: 'doctor',
    summary: 'Check configuration, folders, Redis, token, API and clock, each problem with its remedy.',
    examples: ['po-sync doctor', 'po-sync doctor --environment uat --json'],
    exits: [
      ['0', 'no failures; there may be warnings'],
      ['1', 'at least one check failed'],
    ],
    load: async () => (await import('../commands/doctor.ts')).doctorCommand,
  },
];
