import {
  CANCEL_BATCH,
  LIST_BATCHES,
  RELEASE_BATCH,
  SEND_BATCH,
  SHOW_BATCH,
} from '../../../operations/batches.ts';
import {
  CORRECT,
  DISCARD,
  LIST_DEAD_LETTERS,
  RESOLVE,
  RETRY,
  SHOW_DEAD_LETTER,
} from '../../../operations/dead-letters.ts';
import {
  DASHBOARD,
  DOCTOR,
  EXPLAIN,
  PAUSE,
  RECONCILE,
  RESUME,
  STATUS,
} from '../../../operations/environment.ts';
import type { CommandDefinition } from './command-definition.ts';
import { actCommandOf, commandOf } from './operation-command.ts';

/** The commands of the operations, with how a person sees each. */
export const OPERATION_COMMANDS: readonly CommandDefinition[] = [
  {
    ...commandOf(STATUS, async () => (await import('../status.ts')).view),
    options: [
      { flags: '--watch', text: 'repeat every 2 s until Ctrl-C' },
      { flags: '--exit-code', text: 'end with 2 if something needs a person' },
    ],
    load: async () => (await import('../status.ts')).statusCommand,
  },
  commandOf(EXPLAIN, async () => (await import('../explain.ts')).explainView),
  commandOf(LIST_BATCHES, async () => (await import('../batches.ts')).listView),
  commandOf(SHOW_BATCH, async () => (await import('../batches.ts')).showView),
  actCommandOf(SEND_BATCH, { view: async () => (await import('../check-printers.ts')).sendView }),
  actCommandOf(RELEASE_BATCH),
  actCommandOf(CANCEL_BATCH),
  commandOf(LIST_DEAD_LETTERS, async () => (await import('../dead-letters-list.ts')).listView),
  commandOf(SHOW_DEAD_LETTER, async () => (await import('../dead-letters-list.ts')).showView),
  actCommandOf(CORRECT),
  actCommandOf(RETRY),
  actCommandOf(DISCARD),
  actCommandOf(RESOLVE),
  actCommandOf(RECONCILE, {
    view: async () => (await import('../reconcile-view.ts')).reconcileView,
  }),
  actCommandOf(PAUSE, {
    refused: async () => (await import('../../../operate/delivery/pause-delivery.ts')).notStored,
  }),
  actCommandOf(DASHBOARD),
  // Also works without a configuration that can be used, and without Redis.
  {
    ...commandOf(DOCTOR, async () => ({ text: () => '' })),
    load: async () => (await import('../doctor.ts')).doctorCommand,
  },
  actCommandOf(RESUME, { view: async () => (await import('../resume-view.ts')).resumeView }),
];
