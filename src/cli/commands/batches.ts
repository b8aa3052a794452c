import { CLOSE_UNREADABLE } from '../../operate/batches/cancel-batch.ts';
import type { BatchView } from '../../operate/batches/list-batches.ts';
import { readReport } from '../../report/report.ts';
import { batchTable, batchView } from '../../views/batch.ts';
import { blockText, viewText } from '../terminal/view-text.ts';
import type { View } from './definitions/operation-command.ts';

export const listView: View<{ open: boolean }, { batches: readonly BatchView[] }> = {
  text({ batches }, { input: { open }, format, now }) {
    if (batches.length === 0) return open ? 'No batches need a person.\n' : 'No batches.\n';
    const lines = open ? remarks(batches) : [];
    return (
      blockText(batchTable(batches, now), format) + blockText({ kind: 'steps', lines }, format)
    );
  },
};

function remarks(batches: readonly BatchView[]): string[] {
  const isUnreadable = batches.some(({ standing }) => standing === 'unreadable');
  return [
    ...(isUnreadable ? [`${CLOSE_UNREADABLE}BATCH`] : []),
    ...batches.flatMap(({ batch }) =>
      batch.unsettled ? [`${batch.name}, no report yet: ${batch.unsettled.reason}`] : [],
    ),
  ];
}

export const showView: View<object, BatchView> = {
  async text(batch, { format, now }) {
    const report = await readReport(batch.report).catch(() => undefined);
    return viewText(batchView(batch, now, report?.nameless), format);
  },
};
