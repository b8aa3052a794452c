import { InvalidArgumentError } from 'commander';
import { readSince } from '../../../operate/since.ts';
import { DEAD_LETTER_KINDS as KINDS } from '../../../order/outcome.ts';
import {
  type CommandDefinition,
  type ExitCode,
  type OptionDefinition,
  readWhole,
} from './command-definition.ts';

/** The beginning of the help text of `--limit`. */
export const LIMIT = 'show at most this many';
export const YES: OptionDefinition = { flags: '-y, --yes', text: 'do not ask for confirmation' };
const DRY_RUN: OptionDefinition = { flags: '--dry-run', text: 'only show what would happen' };
const MOST: OptionDefinition = {
  flags: '--limit <count>',
  text: 'act on at most this many orders',
  parse: readWhole,
};

function checkedSince(text: string): string {
  if (readSince(text) !== undefined) return text;
  throw new InvalidArgumentError('Enter a duration such as 24h or 7d, or a date: 2026-11-21.');
}

const FILTERS: readonly OptionDefinition[] = [
  { flags: '--batch <batch>', text: 'of this batch: its name, or the end of it' },
  { flags: '--kind <kind>', text: 'of this kind', choices: KINDS },
  { flags: '--signature <signature>', text: 'with this error, as dead-letters list groups them' },
  { flags: '--since <time>', text: 'last answer since: 24h, 7d, 2026-11-21', parse: checkedSince },
  { flags: '--order <number>', text: 'only this order; repeat it for more', isList: true },
];

const NAMES = "its name, the end of it, or its file's name if no other";
const UNFINISHED = { flags: '<batch>', key: 'batch', text: `${NAMES} unfinished batch has it` };
const ORDER = { flags: '<order>', key: 'order', text: 'order number' };
const NOT_DONE: ExitCode = [
  '1',
  'nothing changed: not found, not confirmed, or Redis is not reachable',
];

/** Commands about batches and single orders. */
export const ORDER_COMMANDS: readonly CommandDefinition[] = [
  {
    name: 'batches release',
    summary: 'Release a file that waits: its orders are sent.',
    argument: UNFINISHED,
    options: [
      { flags: '--without-rows', text: 'leave out the rows that belong to no order' },
      DRY_RUN,
      YES,
    ],
    examples: ['po-sync batches release 3f2a91c0'],
    exits: [['0', 'released'], NOT_DONE],
    load: async () => (await import('../batches.ts')).batchesReleaseCommand,
  },
  {
    name: 'batches cancel',
    summary: 'Cancel the orders of a batch that were certainly never sent.',
    argument: UNFINISHED,
    options: [DRY_RUN, YES],
    examples: ['po-sync batches cancel 3f2a91c0 --dry-run'],
    exits: [['0', 'cancelled'], NOT_DONE, ['2', 'some orders were or may have been sent']],
    load: async () => (await import('../batches.ts')).batchesCancelCommand,
  },
  {
    name: 'dead-letters retry',
    summary: "Send orders again unchanged, after checking the ledger and the API's list.",
    options: [
      ...FILTERS,
      MOST,
      DRY_RUN,
      YES,
      { flags: '--rate <orders>', text: 'at most this many orders a second', parse: readWhole },
    ],
    examples: [
      'po-sync dead-letters retry --kind failed --dry-run',
      'po-sync dead-letters retry --order PO-4711 --yes',
    ],
    exits: [
      ['0', 'all of them are sent again, or none that is selected is open'],
      NOT_DONE,
      ['2', 'some cannot be sent again'],
    ],
    load: async () => (await import('../dead-letters-retry.ts')).deadLettersRetryCommand,
  },
  {
    name: 'dead-letters discard',
    summary: 'Close dead letters without sending; their order numbers can be used again.',
    options: [
      ...FILTERS,
      { flags: '--all', text: 'every order that needs a person; --yes requires this or a filter' },
      MOST,
      DRY_RUN,
      YES,
    ],
    examples: [
      'po-sync dead-letters discard --batch 3f2a91c0 --kind invalid',
      'po-sync dead-letters discard --order PO-4711 --order PO-4712',
    ],
    exits: [
      ['0', 'all of them are discarded, or none that is selected is open'],
      NOT_DONE,
      ['2', 'some cannot be discarded'],
    ],
    load: async () => (await import('../dead-letters-close.ts')).deadLettersDiscardCommand,
  },
  {
    name: 'dead-letters resolve',
    summary: 'Settle an order in doubt.',
    argument: ORDER,
    options: [
      {
        flags: '--as <what>',
        text: 'accepted: the API has it; resend: it does not',
        choices: ['accepted', 'resend'],
        isRequired: true,
      },
      DRY_RUN,
      YES,
    ],
    examples: ['po-sync dead-letters resolve PO-4711 --as accepted'],
    exits: [['0', 'settled'], NOT_DONE],
    load: async () => (await import('../dead-letters-close.ts')).deadLettersResolveCommand,
  },
];
