import { join } from 'node:path';
import { openDraft } from './draft.ts';
import { makeFolder } from './folder.ts';
import { reportPage } from './page/report-page.ts';
import type { Report } from './report.ts';
import { newStory } from './story.ts';

/**
 * Writes how a batch stands while it runs: `report.json`, and the page, each whole or not at all. The page of a batch
 * that is finished is left as it is. Throws `report-not-written`.
 */
export async function writeProgress(folder: string, report: Report): Promise<void> {
  await makeFolder(folder);
  if (report.finishedAt === null) {
    await write(join(folder, 'report.html'), reportPage({ report, story: newStory(), fixFile: undefined }));
  }
  await write(join(folder, 'report.json'), reportJson(report));
}

async function write(path: string, text: string): Promise<void> {
  await using draft = await openDraft(path);
  await draft.write(text);
  await draft.publish();
}

/** The text of `report.json`. */
export function reportJson(report: Report): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}
