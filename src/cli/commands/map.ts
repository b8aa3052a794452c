import path from 'node:path';
import { mapFiles, proposalsJson } from '../../setup/map-files.ts';
import { printProposals } from '../../setup/print.ts';
import { readMappings } from '../../setup/read-mappings.ts';
import type { Shell } from '../shell.ts';
import { printJson } from '../terminal/print.ts';
import { checkWith } from './check.ts';

export type MapArgs = { files: readonly string[]; test?: string; json: boolean };

/**
 * `map`: proposes mappings for sample files, or with `--test` checks files with mappings. Reads no configuration and changes
 * nothing. Exit codes of `check`. PoSyncError for what cannot be read.
 */
export async function mapCommand(args: MapArgs, shell: Shell): Promise<number> {
  const { signal, cwd } = shell;
  if (args.test === undefined) {
    const files = args.files.map((file) => path.resolve(cwd, file));
    const proposals = await mapFiles(files, { signal });
    if (args.json) printJson(shell, proposalsJson(proposals));
    else shell.out(printProposals(proposals));
    return 0;
  }

  return await checkWith(await readMappings(path.resolve(cwd, args.test)), args, shell);
}
