import { PoSyncError } from '../core/errors.ts';
import { counted } from '../core/format.ts';
import type { SentRow } from '../correct/patch.ts';
import { type CorrectionResult, createCorrections } from '../operate/corrections/corrections.ts';
import type { FoundDeadLetter } from '../put-away/dead-letters-in-progress.ts';
import type { Act, Plan } from './operation.ts';
import { shown } from './run-dead-letters.ts';

type GivenRow = Pick<SentRow, 'cells'> & {
  row?: number | undefined;
  delete?: boolean | undefined;
  send?: boolean | undefined;
};
type Input = { id: string; revision: number; rows: readonly GivenRow[] };
type CorrectPlan = Plan & { letter: FoundDeadLetter; revision: number; corrected: SentRow[] };

/** Checks changed rows of a dead letter, and sends them as a file unless a check fails. PoSyncError as `send` of the corrections. */
export const correct: Act<Input, CorrectPlan> = {
  async plan({ id, revision, rows }, context) {
    const letter = await shown.run({ id }, context);
    const corrected = rows.map(({ row, cells, delete: isOut, send }) => {
      return { ...(row && { row }), cells, act: isOut ? 'delete' : send ? 'send' : '' };
    });
    const { current, check } = createCorrections(context, needIntake(context.take));
    const checked = await check(letter, await current(letter, revision), corrected);
    const { isReady } = checked;
    return {
      on: id,
      question: `Send the correction of ${letter.purchaseOrderNumber || id}?`,
      ...(isReady ? { would: 'The correction would be sent.' } : { left: resultText({ checked }) }),
      json: { sent: false, ...checked },
      isEmpty: !isReady,
      needsPerson: !isReady,
      letter,
      revision,
      corrected,
    };
  },
  async run({ letter, revision, corrected }, context) {
    const { send } = createCorrections(context, needIntake(context.take));
    const result = await send(letter, { revision, corrected }, context.operator);
    const { checked, sent } = result;
    const isLeft = sent === undefined;
    return {
      text: resultText(result),
      json: { sent: !isLeft, ...checked, ...(sent && { batch: sent.batch }) },
      needsPerson: isLeft,
      isInVain: isLeft,
    };
  },
};

/** PoSyncError `no-intake`. */
export function needIntake<Take>(take: Take | undefined): Take {
  if (take !== undefined) return take;
  throw new PoSyncError('no-intake', 'This daemon only delivers: it takes no files.', {
    remedy: 'Use the dashboard of a daemon with the role intake or all.',
  });
}

/** What a correction led to, in a sentence. */
export function resultText({ checked, sent }: CorrectionResult): string {
  if (sent !== undefined) return `The correction is sent as batch ${sent.batch}.`;
  const { trouble, orders } = checked;
  if (trouble !== undefined) return `Not sent: ${trouble}`;
  const wrong = orders.flatMap(({ problems }) => problems).length;
  if (wrong > 0) return `Not sent: ${counted(wrong, 'problem')} left.`;
  return `Not sent: ${orders.map(({ number, verdict }) => `${number} is ${verdict}`).join(', ')}.`;
}
