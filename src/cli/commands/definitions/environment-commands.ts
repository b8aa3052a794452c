import {
  type CommandDefinition,
  type OptionDefinition,
  readDuration,
} from './command-definition.ts';

const SANDBOX_OPTIONS: readonly OptionDefinition[] = [
  { flags: '--port <port>', text: 'port of the API (default: any free port)' },
  { flags: '--auth-port <port>', text: 'separate port for the token endpoint' },
  { flags: '--host <address>', text: 'address to listen on (default: 127.0.0.1)' },
  { flags: '--public-url <url>', text: 'address that callers use, for a proxy or a container' },
  { flags: '--token-path <path>', text: '/oauth2/token (default) or /oauth/token' },
  { flags: '--scopes <names>', text: 'scopes that the client may have, such as "read write"' },
  { flags: '--allow-ip <cidr...>', text: 'answer only these addresses' },
  {
    flags: '--headers <how>',
    text: 'strict (default) or lenient about missing Accept and Content-Type',
  },
  { flags: '--data <folder>', text: 'folder for its data (default: data/sandbox)' },
  { flags: '--memory', text: 'keep all data in memory' },
  { flags: '--reset', text: 'remove the orders and tokens of earlier runs first' },
  { flags: '--seed <file>', text: 'initial orders, as JSON' },
  {
    flags: '--on-duplicate <what>',
    text: 'a number that already exists: accept (default), refuse (409), or another status from 400 to 499',
  },
  {
    flags: '--list <mode>',
    text: 'what the list shows: all (default), newest:N or oldest:N (only N orders), paged:N (limit and offset count); docs/rehearsals.md has more',
  },
  {
    flags: '--faults <file>',
    text: 'inject the faults that this file describes, and demand what it demands',
  },
  {
    flags: '--record',
    text: 'serve /rehearsal on the token address: the last calls',
  },
];

const MAX_WAIT: OptionDefinition = {
  flags: '--max-wait <duration>',
  text: 'how long it may take',
  parse: readDuration,
  default: { value: 900_000, shown: '15m' },
};

/** Commands that run or configure po-sync. */
export const DAEMON_COMMANDS: readonly CommandDefinition[] = [
  {
    name: 'start',
    summary: 'Run the daemon; with --once process the files that are present now, then exit.',
    options: [
      { flags: '--once', text: 'exit when nothing is left to do; for cron, CI and trials' },
      { ...MAX_WAIT, text: 'how long --once waits through pauses' },
      {
        flags: '--role <role>',
        text: 'intake takes files and writes reports, delivery calls the API, all does both (default: all)',
        choices: ['intake', 'delivery', 'all'],
      },
      { flags: '--same-api', text: 'keep the ledger: only the address of the API changed' },
      {
        flags: '--new-ledger',
        text: 'begin an empty ledger, for another API or another way to compare numbers',
      },
    ],
    examples: ['po-sync start --environment staging', 'po-sync start --once --max-wait 5m --json'],
    exits: [
      ['0', 'everything succeeded, or the daemon was stopped'],
      ['1', 'it could not work: configuration, folder, port, Redis, refused token'],
      ['2', 'with --once: orders or files need a person, or remain'],
      ['130, 143', '--once was interrupted by SIGINT or SIGTERM'],
    ],
    load: async () => (await import('../start.ts')).startCommand,
  },
  {
    name: 'check',
    summary: 'Read, map and validate files without sending anything.',
    argument: { flags: '<file...>', key: 'files', text: 'order files' },
    options: [
      { flags: '--source <name>', text: 'source whose mapping applies' },
      { flags: '--preview', text: "compare with the ledger and the API's list; sends nothing" },
      { flags: '--orders', text: 'list every order that would be sent, not only the first' },
    ],
    examples: [
      'po-sync check orders.csv',
      'po-sync check orders.csv --orders --json',
      'po-sync check --preview --source erp export.csv --json',
    ],
    exits: [
      ['0', 'every order is valid'],
      ['1', 'a file, the configuration or the list of --preview could not be read'],
      ['2', 'an order is invalid or in conflict, or a file is unreadable'],
    ],
    load: async () => (await import('../check.ts')).checkCommand,
  },
  {
    name: 'map',
    summary: 'Look at sample files and print a mapping for them, with questions.',
    argument: { flags: '<file...>', key: 'files', text: 'sample files; they are not changed' },
    options: [
      {
        flags: '--test <mapping>',
        text: 'instead, show what each file would send with the mappings in this file',
      },
    ],
    examples: [
      'po-sync map orders.csv',
      'po-sync map export-1.csv export-2.csv > mapping.yaml',
      'po-sync map --test mapping.yaml export-1.csv export-2.csv',
    ],
    exits: [
      ['0', 'printed; with --test: everything would be sent'],
      ['1', 'a file or the mapping could not be read'],
      ['2', 'with --test: something would be held or would wait'],
    ],
    load: async () => (await import('../map.ts')).mapCommand,
  },
  {
    name: 'rehearse',
    summary:
      'Process a copy of one file with a temporary sandbox that injects faults, and show the report.',
    argument: { flags: '<file>', key: 'file', text: 'order file; it is not changed' },
    options: [
      { flags: '--source <name>', text: 'source whose mapping applies' },
      {
        flags: '--faults <file>',
        text: 'faults of the sandbox (default: config/rehearsals/rehearse.yaml)',
      },
      MAX_WAIT,
    ],
    examples: ['po-sync rehearse orders.csv', 'po-sync rehearse --source erp export.csv --json'],
    exits: [
      ['0', 'the sandbox accepted every order'],
      ['1', 'the file or the configuration cannot be used, or time ran out'],
      ['2', 'an order needs a person, or the file is unreadable'],
      ['130, 143', 'interrupted by SIGINT or SIGTERM'],
    ],
    load: async () => (await import('../rehearse.ts')).rehearseCommand,
  },
  {
    name: 'config show',
    summary: 'Show the resolved configuration, secrets redacted.',
    examples: ['po-sync config show --environment uat'],
    exits: [
      ['0', 'shown'],
      ['1', 'the configuration is missing or wrong'],
    ],
    load: async () => (await import('../config.ts')).configShowCommand,
  },
  {
    name: 'config schema',
    summary: 'Show the JSON Schema of the configuration file.',
    examples: ['po-sync config schema > po-sync.schema.json'],
    exits: [['0', 'shown']],
    load: async () => (await import('../config.ts')).configSchemaCommand,
  },
  {
    name: 'sandbox',
    summary:
      'Run the reference Purchase-Order API for trials and rehearsals: staging, unless --environment names another one.',
    options: SANDBOX_OPTIONS,
    examples: ['po-sync sandbox', 'po-sync sandbox --environment staging --port 8081 --record'],
    exits: [
      ['0', 'stopped by a signal'],
      ['1', 'an option, a variable, the port or its data cannot be used'],
    ],
    load: async () => (await import('../sandbox.ts')).sandboxCommand,
  },
];
