import { z } from 'zod';
import { acting, reading } from './operation.ts';
import { argument, count, flag, word } from './parameters.ts';
import * as schemas from './schemas.ts';

export const STATUS = reading({
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

export const EXPLAIN = reading({
  name: 'explain',
  summary: 'Show what is known about one order: files, attempts, outcome.',
  input: z.strictObject({ order: argument('order number') }),
  output: schemas.history,
  role: 'read',
  examples: ['po-sync explain PO-4711', 'po-sync explain PO-4711 --json'],
  exits: [
    ['0', 'shown'],
    ['1', 'the order is unknown, or Redis is not reachable'],
  ],
  load: async () => (await import('./run-environment.ts')).explained,
});

export const DOCTOR = reading({
  name: 'doctor',
  summary:
    'Check configuration, folders, Redis, token, API and clock, each problem with its remedy.',
  input: z.strictObject({}),
  output: schemas.findings,
  role: 'read',
  isLasting: true,
  examples: ['po-sync doctor', 'po-sync doctor --environment uat --json'],
  exits: [
    ['0', 'no failures; there may be warnings'],
    ['1', 'at least one check failed'],
  ],
  load: async () => (await import('./run-environment.ts')).examined,
});

export const DASHBOARD = acting({
  name: 'dashboard',
  summary: 'Print a link that opens the dashboard once, as the user who runs the command.',
  input: z.strictObject({ signOutAll: flag('instead, end every session of the dashboard') }),
  output: schemas.link,
  role: 'operate',
  isHarmless: () => true,
  examples: ['po-sync dashboard', 'po-sync dashboard --sign-out-all'],
  exits: [
    ['0', 'printed, or signed out'],
    ['1', 'no daemon serves the dashboard, or Redis is not reachable'],
  ],
  load: async () => (await import('./run-environment.ts')).dashboard,
});

const COULD_NOT = ['1', 'the configuration is wrong, or Redis is not reachable'] as const;

export const PAUSE = acting({
  name: 'pause',
  summary: 'Pause delivery. Files are still taken.',
  input: z.strictObject({ reason: word('shown wherever the pause is shown', 'text').optional() }),
  output: schemas.paused,
  role: 'operate',
  isHarmless: () => true,
  examples: ['po-sync pause --reason "API maintenance until 18:00"'],
  exits: [['0', 'delivery is paused'], COULD_NOT],
  load: async () => (await import('./run-environment.ts')).pause,
});

export const RESUME = acting({
  name: 'resume',
  summary: 'End a pause.',
  input: z.strictObject({}),
  output: schemas.resumed,
  role: 'operate',
  examples: ['po-sync resume', 'po-sync resume --environment production --confirm production'],
  exits: [['0', 'delivery is not paused by an operator'], COULD_NOT],
  load: async () => (await import('./run-environment.ts')).resume,
});

export const RECONCILE = acting({
  name: 'reconcile',
  summary: "Compare the ledger with the API's list.",
  input: z.strictObject({
    limit: count('show at most this many of each kind (default: 50; with --json all)').optional(),
    repair: flag('add to the ledger what only the API has'),
    expect: count(
      'the API has so many orders: a list that shows as many counts as complete',
      0,
    ).optional(),
    yes: flag('do not ask for confirmation'),
  }),
  output: schemas.reconciled,
  role: 'operate',
  isHarmless: ({ repair, expect }) => !repair && expect === undefined,
  examples: ['po-sync reconcile', 'po-sync reconcile --repair --yes'],
  exits: [
    ['0', 'ledger and API agree'],
    ['1', 'the list could not be read, or the repair was not confirmed'],
    ['2', 'they differ, even after --repair, or the list is not proved complete'],
  ],
  load: async () => (await import('./run-reconcile.ts')).reconcile,
});
