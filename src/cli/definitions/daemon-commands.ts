import type { CommandDefinition, OptionDefinition } from '../command-definition.ts';
import { readDuration } from '../option-values.ts';

const SANDBOX_OPTIONS: readonly OptionDefinition[] = [
  { flags: '--port <port>', text: 'port of the API (default: any free port)' },
  { flags: '--auth-port <port>', text: 'separate port for the token endpoint' },
  { flags: '--host <address>', text: 'address to listen on' },
  { flags: '--token-path <path>', text: '/oauth2/token or /oauth/token' },
  { flags: '--scopes <names>', text: 'scopes that the client may have, such as "read write"' },
  { flags: '--data <folder>', text: 'folder for its data' },
  { flags: '--memory', text: 'keep all data in memory' },
  { flags: '--reset', text: 'remove the orders and tokens of earlier runs first' },
  { flags: '--allow-ip <cidr...>', text: 'answer only these addresses' },
  { flags: '--on-duplicate <what>', text: 'accept or refuse a number that already exists' },
  { flags: '--faults <file>', text: 'inject the faults that this file describes' },
  { flags: '--record', text: 'serve GET /rehearsal on the token address' },
  { flags: '--token-lifetime <seconds>', text: 'how long tokens are valid' },
  { flags: '--list-shape <shape>', text: 'array or object' },
  { flags: '--list-items <yes|no>', text: 'whether the list contains items' },
];

/** Commands that run or configure po-sync. */
export const DAEMON_COMMANDS: readonly CommandDefinition[] = [
  {
    name: 'start',
    summary: 'Run the daemon; with --once process the files that are present now, then exit.',
    options: [
      { flags: '--once', text: 'exit when nothing is left to do; for cron, CI and trials' },
      {
        flags: '--max-wait <duration>',
        text: 'how long --once waits through pauses',
        parse: readDuration,
        default: { value: 900_000, shown: '15m' },
      },
    ],
    examples: ['po-sync start --environment staging', 'po-sync start --once --max-wait 5m --json'],
    exits: [
      ['0', 'everything succeeded, or the daemon was stopped'],
      ['1', 'it could not work: configuration, folder, port, Redis, refused token'],
      ['2', 'with --once: orders or files need a person, or are left'],
      ['130, 143', '--once was interrupted by SIGINT or SIGTERM'],
    ],
    load: async () => (await import('../commands/start.ts')).startCommand,
  },
  {
    name: 'check',
    summary: 'Read, map and validate files without sending anything. Uses neither Redis nor network.',
    argument: { flags: '<file...>', key: 'files', text: 'order files' },
    options: [{ flags: '--source <name>', text: 'source whose mapping applies' }],
    examples: ['po-sync check orders.csv', 'po-sync check --source erp export.csv --json'],
    exits: [
      ['0', 'every order is valid'],
      ['1', 'a file could not be opened, or the configuration is wrong'],
      ['2', 'an order is invalid, or a file is unreadable'],
    ],
    load: async () => (await import('../commands/check.ts')).checkCommand,
  },
  {
    name: 'config show',
    summary: 'Show the resolved configuration, secrets redacted.',
    examples: ['po-sync config show --environment uat'],
    exits: [
      ['0', 'shown'],
      ['1', 'the configuration is missing or wrong'],
    ],
    load: async () => (await import('../commands/config.ts')).configShowCommand,
  },
  {
    name: 'config schema',
    summary: 'Show the JSON Schema of the configuration file.',
    examples: ['po-sync config schema > po-sync.schema.json'],
    exits: [['0', 'shown']],
    load: async () => (await import('../commands/config.ts')).configSchemaCommand,
  },
  {
    name: 'sandbox',
    summary: 'Run the reference Purchase-Order API for trials and rehearsals.',
    options: SANDBOX_OPTIONS,
    examples: ['po-sync sandbox --environment staging --port 8081 --data data/sandbox'],
    exits: [
      ['0', 'stopped by a signal'],
      ['1', 'an option, a variable, the port or its data cannot be used'],
    ],
    load: async () => (await import('../commands/sandbox.ts')).sandboxCommand,
  },
];
