import { z } from 'zod';
import { operation } from './operation.ts';
import { argument, flag } from './parameters.ts';
import * as schemas from './schemas.ts';

export const STATUS = operation({
  name: 'status',
  summary: 'Show daemons, sources, queue, batches in progress, unreadable files, token and pauses.',
  input: z.strictObject({}),
  output: schemas.status,
  role: 'read',
  isLasting: true,
  examples: ['po-sync status', 'po-sync status --watch', 'po-sync status --exit-code'],
  exits: [
    ['0', 'the status was shown, whatever it is without --exit-code'],
    ['1', 'the configuration is wrong, or Redis is not reachable'],
    ['2', 'with --exit-code: something needs a person or a daemon'],
  ],
  load: async () => (await import('./run-environment.ts')).seen,
});

export const EXPLAIN = operation({
  name: 'explain',
  summary: 'Show what is known about one order: files, attempts, outcome.',
  input: z.strictObject({
    order: argument('order number'),
    list: flag("also read the API's list, and show the items that the API has"),
  }),
  output: schemas.history,
  role: 'read',
  examples: ['po-sync explain PO-4711', 'po-sync explain PO-4711 --list'],
  exits: [
    ['0', 'shown'],
    ['1', 'the order is unknown, or Redis is not reachable'],
  ],
  load: async () => (await import('./run-environment.ts')).explained,
});
