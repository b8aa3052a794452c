import { z } from 'zod';
import { DEAD_LETTER_KINDS } from '../order/outcome.ts';
import { acting, reading } from './operation.ts';
import { argument, CONFIRMED, count, flag, word } from './parameters.ts';
import * as schemas from './schemas.ts';

/** The parameters that select dead letters. */
const FILTERS = {
  batch: word('of this batch: its name, or the end of it').optional(),
  kind: z.enum(DEAD_LETTER_KINDS).meta({ description: 'of this kind' }).optional(),
  signature: word('with this error, as dead-letters list groups them').optional(),
  order: z
    .array(z.string())
    .meta({ description: 'only this order; repeat it for more', 'x-value': 'number' })
    .optional(),
  id: z
    .array(z.string())
    .meta({ description: 'only the dead letter with this id; repeat it for more' })
    .optional(),
};

/** Dead letters that an answer has without `limit`. */
const USUAL = 1_000;

export const LIST_DEAD_LETTERS = reading({
  name: 'dead-letters list',
  summary: 'Show which orders need a person and why, grouped by error.',
  input: z.strictObject({
    limit: count(`show at most this many (default: 50; with --json ${USUAL})`).optional(),
    ...FILTERS,
    all: flag('include closed dead letters'),
  }),
  output: schemas.deadLetters,
  role: 'read',
  examples: [
    'po-sync dead-letters list --kind refused',
    'po-sync dead-letters list --batch 3f2a91c0 --json',
  ],
  exits: [
    ['0', 'shown'],
    ['1', 'the named order or batch is unknown, or Redis is not reachable'],
  ],
  load: async () => (await import('./run-dead-letters.ts')).listed(USUAL),
});

export const SHOW_DEAD_LETTER = reading({
  name: 'dead-letters show',
  summary: 'Show one dead letter with its rows, as they were read.',
  input: z.strictObject({ id: argument('its id, such as cf449eb3-203') }),
  output: schemas.deadLetter,
  role: 'read',
  examples: ['po-sync dead-letters show cf449eb3-203 --json'],
  exits: [
    ['0', 'shown'],
    ['1', 'there is none with this id, or Redis is not reachable'],
  ],
  load: async () => (await import('./run-dead-letters.ts')).shown,
});

const PLAN = word('exactly what --dry-run with this id showed', 'id').optional();
const MOST = count('act on at most this many orders').optional();
const NOT_DONE = [
  '1',
  'nothing changed: not found, not confirmed, or Redis is not reachable',
] as const;

export const RETRY = acting({
  name: 'dead-letters retry',
  summary: "Send orders again unchanged, after checking the ledger and the API's list.",
  input: z.strictObject({
    ...FILTERS,
    limit: MOST,
    plan: PLAN,
    ...CONFIRMED,
  }),
  output: schemas.retried,
  role: 'operate',
  examples: [
    'po-sync dead-letters retry --kind failed --dry-run',
    'po-sync dead-letters retry --plan 5b81c0de --yes',
  ],
  exits: [
    ['0', 'all of them are sent again, or none that is selected is open'],
    NOT_DONE,
    ['2', 'some cannot be sent again'],
  ],
  load: async () => (await import('./run-bulk.ts')).retry,
});

export const DISCARD = acting({
  name: 'dead-letters discard',
  summary: 'Close dead letters without sending; their order numbers can be used again.',
  input: z.strictObject({
    ...FILTERS,
    all: flag('every order that needs a person; --yes requires this or a filter'),
    limit: MOST,
    plan: PLAN,
    ...CONFIRMED,
  }),
  output: schemas.discarded,
  role: 'operate',
  examples: [
    'po-sync dead-letters discard --batch 3f2a91c0 --kind invalid',
    'po-sync dead-letters discard --order PO-4711 --order PO-4712',
  ],
  exits: [
    ['0', 'all of them are discarded, or none that is selected is open'],
    NOT_DONE,
    ['2', 'some cannot be discarded'],
  ],
  load: async () => (await import('./run-bulk.ts')).discard,
});

export const RESOLVE = acting({
  name: 'dead-letters resolve',
  summary: 'Settle an order in doubt, or say that two spellings are two orders.',
  input: z.strictObject({
    order: argument('order number'),
    as: z.enum(['accepted', 'resend', 'other-order']).meta({
      description:
        'accepted: the API has it; resend: it does not; other-order: it is another order than the one that the ledger has in another spelling',
      'x-value': 'what',
    }),
    ...CONFIRMED,
  }),
  output: schemas.settled,
  role: 'operate',
  examples: ['po-sync dead-letters resolve PO-4711 --as accepted'],
  exits: [['0', 'settled'], NOT_DONE],
  load: async () => (await import('./run-dead-letters.ts')).resolve,
});

const ROWS = z
  .array(
    z.strictObject({
      row: z.int().min(1).optional(),
      cells: z.record(z.string(), z.string()).default({}),
      delete: z.boolean().optional(),
      send: z.boolean().optional(),
    }),
  )
  .min(1)
  .meta({
    description:
      'what is changed, as JSON: [{"row": 1, "cells": {"NAME": "value"}}]; without row, one is added; delete leaves one out',
    'x-value': 'json',
  });

export const CORRECT = acting({
  name: 'dead-letters correct',
  summary:
    'Change rows of a dead letter: they are checked, and sent as a file unless a check fails.',
  input: z.strictObject({
    id: argument('its id, as dead-letters list --json shows it'),
    revision: count('the one that was read: another is refused').default(1),
    rows: ROWS,
    ...CONFIRMED,
  }),
  output: schemas.corrected,
  role: 'operate',
  examples: [`po-sync dead-letters correct cf449eb3-203 --rows '[{"row":1,"delete":true}]'`],
  exits: [['0', 'sent'], NOT_DONE, ['2', 'not sent: a check failed']],
  load: async () => (await import('./run-correct.ts')).correct,
});
