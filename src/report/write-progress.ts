import { join } from 'node:path';
import { openDraft } from './draft.ts';
import { makeFolder } from './folder.ts';
import type { Report } from './report.ts';

/** Writes `report.json` alone, whole or not at all: how a batch stands while it runs. Throws `report-not-written`. */
export async function writeProgress(folder: string, report: Report): Promise<void> {
  await makeFolder(folder);
  await using draft = await openDraft(join(folder, 'report.json'));
  await draft.write(reportJson(report));
  await draft.publish();
}

/** The text of `report.json`. */
export function reportJson(report: Report): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}
