import { z } from 'zod';
import { acting, reading } from './operation.ts';
import { argument, CONFIRMED, count, file, flag, word } from './parameters.ts';
import * as schemas from './schemas.ts';

const NAMES = "its name, the end of it, or its file's name";

export const LIST_BATCHES = reading({
  name: 'batches list',
  summary: 'Show what happened to each file, newest first.',
  input: z.strictObject({
    limit: count('show at most this many').default(20),
    open: flag('only those that need a person, unreadable files included'),
  }),
  output: z.strictObject({ environment: z.string(), batches: z.array(schemas.batch) }),
  role: 'read',
  examples: ['po-sync batches list --open', 'po-sync batches list --limit 100 --json'],
  exits: [
    ['0', 'shown'],
    ['1', 'Redis is not reachable'],
  ],
  load: async () => (await import('./run-batches.ts')).listed,
});

export const SHOW_BATCH = reading({
  name: 'batches show',
  summary: 'Show one batch.',
  input: z.strictObject({ batch: argument(NAMES) }),
  output: schemas.batch,
  role: 'read',
  examples: ['po-sync batches show 3f2a91c0', 'po-sync batches show orders.csv'],
  exits: [
    ['0', 'shown'],
    ['1', 'the batch is unknown, or Redis is not reachable'],
  ],
  load: async () => (await import('./run-batches.ts')).shown,
});

const NOT_DONE = [
  '1',
  'nothing changed: not found, not confirmed, or Redis is not reachable',
] as const;

export const SEND_BATCH = acting({
  name: 'batches send',
  summary: 'Send a file: the preview shows what would happen to each order.',
  input: z.strictObject({
    file: file('order file; it is not changed'),
    source: word('source whose mapping applies', 'name').optional(),
    plan: word('only if the preview is the one with this id', 'id').optional(),
    ...CONFIRMED,
  }),
  output: schemas.submitted,
  role: 'operate',
  examples: ['po-sync batches send orders.csv', 'po-sync batches send --dry-run orders.csv'],
  exits: [['0', 'submitted'], NOT_DONE, ['2', 'an order, or the file, needs a person']],
  load: async () => (await import('./run-send.ts')).send,
});

export const RELEASE_BATCH = acting({
  name: 'batches release',
  summary: 'Release a file that waits: its orders are sent.',
  input: z.strictObject({
    batch: argument(NAMES),
    withoutRows: flag('leave out the rows that belong to no order'),
    ...CONFIRMED,
  }),
  output: schemas.released,
  role: 'operate',
  examples: ['po-sync batches release 3f2a91c0'],
  exits: [['0', 'released'], NOT_DONE],
  load: async () => (await import('./run-batches.ts')).release,
});

export const CANCEL_BATCH = acting({
  name: 'batches cancel',
  summary: 'Cancel the orders of a batch that were certainly never sent.',
  input: z.strictObject({ batch: argument(NAMES), ...CONFIRMED }),
  output: schemas.cancelled,
  role: 'operate',
  examples: ['po-sync batches cancel 3f2a91c0 --dry-run'],
  exits: [['0', 'cancelled'], NOT_DONE, ['2', 'some orders were or may have been sent']],
  load: async () => (await import('./run-batches.ts')).cancel,
});
