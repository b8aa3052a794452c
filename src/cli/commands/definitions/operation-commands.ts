import { OPERATIONS } from '../../../operations/all.ts';
import type { CommandDefinition } from './command-definition.ts';
import { type ActView, actCommandOf, commandOf, type View } from './operation-command.ts';

// How a person sees operations whose texts are not all of it.

const VIEWS: Readonly<Record<string, () => Promise<View<never, never>>>> = {
  status: async () => (await import('../status.ts')).view,
  explain: async () => (await import('../explain.ts')).explainView,
  'batches list': async () => (await import('../batches.ts')).listView,
  'batches show': async () => (await import('../batches.ts')).showView,
  'dead-letters list': async () => (await import('../dead-letters-list.ts')).listView,
  'dead-letters show': async () => (await import('../dead-letters-list.ts')).showView,
};

const ACT_VIEWS: Readonly<Record<string, () => Promise<ActView<never, never>>>> = {
  'batches send': async () => (await import('../check-printers.ts')).sendView,
  reconcile: async () => (await import('../reconcile-view.ts')).reconcileView,
  resume: async () => (await import('../resume-view.ts')).resumeView,
};

const OWN: Readonly<Record<string, Partial<CommandDefinition>>> = {
  status: {
    options: [
      { flags: '--watch', text: 'repeat every 2 s until Ctrl-C' },
      { flags: '--exit-code', text: 'end with 2 if something needs a person' },
    ],
    load: async () => (await import('../status.ts')).statusCommand,
  },
  // Also works without a configuration that can be used, and without Redis.
  doctor: { load: async () => (await import('../doctor.ts')).doctorCommand },
};

/** The commands of the operations. */
export const OPERATION_COMMANDS: readonly CommandDefinition[] = OPERATIONS.map((one) => ({
  ...(one.role === 'read'
    ? commandOf(one, VIEWS[one.name])
    : actCommandOf(one, ACT_VIEWS[one.name])),
  ...OWN[one.name],
}));
