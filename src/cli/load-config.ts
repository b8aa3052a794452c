import path from 'node:path';
import type { Config } from '../config/config.ts';
import { readConfigFile } from '../config/config-file.ts';
import { requireConfirmation } from '../config/confirm.ts';
import { loadConfig } from '../config/load.ts';
import { type ConfigProblem, sentenceOf } from '../config/problem.ts';
import { PoSyncError } from '../core/errors.ts';
import { counted } from '../core/format.ts';
import type { Shell } from './shell.ts';

export type ConfigArgs = { config?: string; environment?: string; confirm?: string };

const PROGRAM_ROOT = path.resolve(import.meta.dirname, '..', '..');

/**
 * Opens the configuration that the command line and the variables mean. `needs.confirm`: the command acts on the
 * environment, so a protected one must be confirmed.
 * Throws PoSyncError `config-missing`, `config-unreadable`, `config-invalid` (every problem as one line),
 * `confirmation-missing`.
 */
export async function openConfig(
  args: ConfigArgs,
  shell: Pick<Shell, 'env' | 'cwd'>,
  needs: { confirm: boolean },
): Promise<{ config: Config; warnings: string[] }> {
  const { env, cwd } = shell;
  const { text, file, warnings } = await readConfigFile({ flag: args.config, env, cwd, programRoot: PROGRAM_ROOT });
  const chosen = args.environment === undefined ? {} : { environment: args.environment };
  const loaded = loadConfig({ text, file, env, ...chosen });
  const name = shortest(file, cwd);
  if (!loaded.ok) throw invalid(file, name, loaded.problems);
  if (needs.confirm) requireConfirmation(loaded.config, args.confirm, env);
  return { config: loaded.config, warnings: [...warnings, ...loaded.warnings.map((it) => sentenceOf(it, name))] };
}

function invalid(file: string, name: string, problems: readonly ConfigProblem[]): PoSyncError {
  const count = counted(problems.length, 'problem');
  const lines = [`${count} in the configuration:`, ...problems.map((problem) => sentenceOf(problem, name))];
  return new PoSyncError('config-invalid', lines.join('\n'), {
    remedy: 'Every key is described in docs/configuration.md.',
    facts: { file, problems: problems.length },
  });
}

/** As the reader would type it. */
function shortest(file: string, cwd: string): string {
  const relative = path.relative(cwd, file);
  return relative.startsWith('..') ? file : relative;
}
