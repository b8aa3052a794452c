import { z } from 'zod';
import { operation } from './operation.ts';
import { argument, count, flag, since } from './parameters.ts';
import * as schemas from './schemas.ts';

const NAMES = "its name, the end of it, or its file's name if no other batch has it";

export const LIST_BATCHES = operation({
  name: 'batches list',
  summary: 'Show what happened to each file, newest first.',
  input: z.strictObject({
    limit: count('show at most this many').default(20),
    since: since('taken since: 24h, 7d, 2026-11-21').optional(),
    open: flag('only those that need a person, unreadable files included'),
  }),
  output: z.strictObject({ environment: z.string(), batches: z.array(schemas.batch) }),
  role: 'read',
  examples: ['po-sync batches list --open', 'po-sync batches list --since 7d --limit 100 --json'],
  exits: [
    ['0', 'shown'],
    ['1', 'Redis is not reachable'],
  ],
  load: async () => (await import('./run-batches.ts')).listed,
});

export const SHOW_BATCH = operation({
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
