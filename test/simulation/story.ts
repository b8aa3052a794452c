import type { Ledger } from '../../src/ledger/ledger.ts';
import type { Step } from '../../src/ledger/state-machine/step.ts';

/** Takes a line of what happens in a world: who did what. */
export type Story = (who: string, what: string) => void;

/** What a world counts of the ledger's changes. */
type Watch = {
  /** The list has shown that the API has a number with other items. */
  conflict: (number: string) => void;
  /** An intent was given back. */
  givenBack: () => void;
};

export function watchedLedger(ledger: Ledger, watch: Watch): Ledger {
  return {
    ...ledger,
    async take(entry, step, ...rest) {
      const done = await ledger.take(entry, step, ...rest);
      if (done && step.kind === 'dead' && step.entry.state === 'conflict')
        watch.conflict(entry.order.purchaseOrderNumber);
      if (done && step.kind === 'move' && step.entry.attempt < entry.attempt) watch.givenBack();
      return done;
    },
  };
}

/** The ledger, which reports each change that it is asked to commit and whether it did. */
export function toldLedger(ledger: Ledger, who: string, story: Story | undefined): Ledger {
  if (story === undefined) return ledger;
  return {
    ...ledger,
    async take(entry, step, ...rest) {
      const number = entry.order.purchaseOrderNumber;
      const what = `${number} v${entry.version} ${entry.state} → ${short(step)}`;
      try {
        const done = await ledger.take(entry, step, ...rest);
        if (step.kind !== 'ignore') story(who, `${what}${done ? '' : ' (too late)'}`);
        return done;
      } catch (error) {
        story(who, `${what}: ${String(error)}`);
        throw error;
      }
    },
    async enter(entry, before, due) {
      const done = await ledger.enter(entry, before, due);
      story(
        who,
        `${entry.order.purchaseOrderNumber} entered for ${entry.batch} (${entry.batchNo}/${entry.ordinal})${done ? '' : ' (too late)'}`,
      );
      return done;
    },
  };
}

function short(step: Step): string {
  switch (step.kind) {
    case 'move':
      return `${step.entry.state} #${step.entry.attempt} v${step.entry.version} absences ${step.entry.absences}`;
    case 'dead':
      return step.entry.state;
    case 'accept':
    case 'cancel':
    case 'drop':
    case 'ignore':
      return step.kind;
  }
}
