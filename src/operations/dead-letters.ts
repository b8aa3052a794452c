import { z } from 'zod';
import { DEAD_LETTER_KINDS } from '../order/outcome.ts';
import { operation } from './operation.ts';
import { argument, count, flag, since, word } from './parameters.ts';
import * as schemas from './schemas.ts';

/** The parameters that select dead letters. */
const FILTERS = {
  batch: word('of this batch: its name, or the end of it').optional(),
  kind: z.enum(DEAD_LETTER_KINDS).meta({ description: 'of this kind' }).optional(),
  signature: word('with this error, as dead-letters list groups them').optional(),
  since: since('last answer since: 24h, 7d, 2026-11-21').optional(),
  order: z
    .array(z.string())
    .meta({ description: 'only this order; repeat it for more', 'x-value': 'number' })
    .optional(),
};

/** Dead letters that an answer has without `limit`. */
const USUAL = 1_000;

export const LIST_DEAD_LETTERS = operation({
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

export const SHOW_DEAD_LETTER = operation({
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
