import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { counted } from '../../core/format.ts';
import { FIX_WORKBOOK } from '../../correct/fix-workbook.ts';
import { withoutReportText } from '../../operate/batches/open-dead-letters.ts';
import { type FilterInput, hasFilter } from '../../operations/dead-letter-filter.ts';
import type { Listed, Shown } from '../../operations/run-dead-letters.ts';
import type { Step } from '../../order/fixing.ts';
import { intoInbox } from '../../order/fixing.ts';
import type { FoundDeadLetter } from '../../put-away/dead-letters-in-progress.ts';
import { groupTable, letterTable, letterView, listed } from '../../views/letter.ts';
import { DOUBT_STEPS } from '../../views/next-step.ts';
import { hanging, printable } from '../terminal/print.ts';
import { blockText, viewText } from '../terminal/view-text.ts';
import type { View } from './definitions/operation-command.ts';

/** Rows of the table without `--limit`. */
const ROWS = 50;

/** Dead letters, one a line, then grouped by error. An order has one in each file in which it needs a person. */
export const listView: View<FilterInput & { all: boolean }, Listed> = {
  async text({ letters, groups, total, without }, { input, context, format }) {
    const shown = letters.slice(0, input.limit ?? ROWS);
    const lost = without.map((one) => `${hanging(printable(withoutReportText(one)), 0, format)}\n`);
    if (total === 0 && lost.length > 0) return lost.join('\n');
    if (total === 0)
      return hasFilter(input) ? 'No open dead letter matches.\n' : 'No orders need a person.\n';
    const more = total - shown.length;
    return [
      blockText(letterTable(shown.map(listed)), format),
      more > 0 ? `… and ${counted(more, 'more dead letter')}; use --limit to see more.\n` : '',
      `\n${format.paint('strong', `${counted(total, 'dead letter')}, grouped by error`)}\n`,
      blockText(groupTable(groups), format),
      ...lost.map((text) => `\n${text}`),
      blockText({ kind: 'steps', lines: nextSteps(letters, context.config) }, format),
    ].join('');
  },
};

/** What a person can do next. */
function nextSteps(letters: readonly FoundDeadLetter[], config: Config): Step[] {
  const kinds = new Set(letters.flatMap(({ kind, closed }) => (closed ? [] : kind)));
  if (kinds.size === 0) return ['All of them are closed.'];
  const doubt = kinds.delete('inDoubt');
  return [
    ...(kinds.size > 0
      ? [
          `Correct a copy of this workbook and drop it ${intoInbox(config)}; close what nobody needs with po-sync dead-letters discard:`,
          { command: join(config.reports.path, 'open', FIX_WORKBOOK) },
        ]
      : []),
    ...(kinds.has('refused') || kinds.has('failed')
      ? [
          'Send refused and failed orders again unchanged:',
          { command: 'po-sync dead-letters retry' },
        ]
      : []),
    ...(doubt ? DOUBT_STEPS : []),
  ];
}

/** One dead letter with its rows. */
export const showView: View<object, Shown> = {
  text: (letter, { format }) => viewText(letterView(letter), format),
};
