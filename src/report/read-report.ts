import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../core/errors.ts';
import type { Report } from './report.ts';

/** The `report.json` of a report's folder; undefined when there is none yet, or none any more. */
export async function readReport(folder: string): Promise<Report | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, 'report.json'), 'utf8'));
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}
