import { CLOSE_UNREADABLE } from '../../operate/batches/cancel-batch.ts';
import type { BatchView } from '../../operate/batches/list-batches.ts';
import { readReport } from '../../report/report.ts';
import { type Format, printable, wrapped } from '../terminal/print.ts';
import { batchTable, batchText } from './batch-view.ts';
import type { View } from './definitions/operation-command.ts';

export const listView: View<{ open: boolean }, { batches: readonly BatchView[] }> = {
  text({ batches }, { input: { open }, format, now }) {
    if (batches.length === 0) return open ? 'No batches need a person.\n' : 'No batches.\n';
    return batchTable(batches, now, format) + (open ? remarks(batches, format) : '');
  },
};

function remarks(batches: readonly BatchView[], format: Format): string {
  const lines = [
    ...(batches.some(({ standing }) => standing === 'unreadable')
      ? [`${CLOSE_UNREADABLE}BATCH`]
      : []),
    ...batches.flatMap(({ batch }) =>
      batch.unsettled ? [`${batch.name}, no report yet: ${batch.unsettled.reason}`] : [],
    ),
  ];
  return lines.length === 0
    ? ''
    : `\n${lines.flatMap((line) => wrapped(printable(line), format)).join('\n')}\n`;
}

export const showView: View<object, BatchView> = {
  async text(batch, { format, now }) {
    const report = await readReport(batch.report).catch(() => undefined);
    return batchText(batch, now, format, report?.nameless ?? 0);
  },
};
