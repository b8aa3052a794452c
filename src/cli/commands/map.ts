import path from 'node:path';
import { mapFiles, proposalsJson } from '../../setup/map-files.ts';
import { printProposals } from '../../setup/print.ts';
import {
  isAllSent,
  printTrials,
  readMappings,
  type Trial,
  tryFile,
} from '../../setup/test-mapping.ts';
import type { Shell } from '../shell.ts';
import { printJson } from '../terminal/print.ts';

export type MapArgs = { files: readonly string[]; name?: string; test?: string; json?: boolean };

/**
 * `map`: proposes mappings for sample files, or with `--test` shows what files would send with one. Reads no configuration
 * and changes nothing. Exit code 2: with `--test`, something would be held or would wait. PoSyncError for what cannot be
 * read.
 */
export async function mapCommand(args: MapArgs, shell: Shell): Promise<number> {
  const { signal, cwd } = shell;
  const files = args.files.map((file) => path.resolve(cwd, file));
  if (args.test === undefined) {
    const proposals = await mapFiles(files, { signal, name: args.name });
    if (args.json) printJson(shell, proposalsJson(proposals));
    else shell.out(printProposals(proposals));
    return 0;
  }

  const mappings = await readMappings(path.resolve(cwd, args.test));
  const trials: Trial[] = [];
  for (const file of files) trials.push(await tryFile(file, mappings, { signal }));
  if (args.json) printJson(shell, { files: trials });
  else shell.out(printTrials(trials));
  return isAllSent(trials) ? 0 : 2;
}
