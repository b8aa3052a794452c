import { LIST_BATCHES, SHOW_BATCH } from '../../../operations/batches.ts';
import { LIST_DEAD_LETTERS, SHOW_DEAD_LETTER } from '../../../operations/dead-letters.ts';
import { EXPLAIN, STATUS } from '../../../operations/environment.ts';
import type { CommandDefinition } from './command-definition.ts';
import { commandOf } from './operation-command.ts';

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
  commandOf(EXPLAIN, async () => (await import('../explain.ts')).view),
  commandOf(LIST_BATCHES, async () => (await import('../batches.ts')).listView),
  commandOf(SHOW_BATCH, async () => (await import('../batches.ts')).showView),
  commandOf(LIST_DEAD_LETTERS, async () => (await import('../dead-letters-list.ts')).listView),
  commandOf(SHOW_DEAD_LETTER, async () => (await import('../dead-letters-list.ts')).showView),
];
