import path from 'node:path';
import type { Config, Mapping } from '../../config/config.ts';
import { nearest } from '../../config/nearest.ts';
import { PoSyncError } from '../../core/errors.ts';
import type { Shell } from '../shell.ts';
import { checkFile } from './check-file.ts';
import { checkJson } from './check-json.ts';
import type { CheckPrinter, FilePrinter } from './check-printer.ts';
import { failureText, formatText, problemText, resultText } from './check-text.ts';

export type CheckArgs = {
  files: readonly string[];
  source?: string;
  config?: string;
  environment?: string;
  json: boolean;
};

/**
 * `po-sync check`: reads, maps and checks files as the daemon would, and sends nothing. Exit code 0: every order is
 * valid; 2: something needs a person; 1: a file could not be looked at. PoSyncError `source-unknown`.
 */
export async function checkCommand(args: CheckArgs, shell: Shell, config: Config): Promise<number> {
  const mapping = mappingFor(args.source, config);
  const printer = args.json ? checkJson((text) => shell.out(text)) : textPrinter(shell);
  printer.begin();
  let code = 0;
  for (const file of args.files) {
    const found = await checkOne(path.resolve(shell.cwd, file), mapping, printer.file(file), shell.signal);
    code = code === 1 ? 1 : found === 1 ? 1 : Math.max(code, found);
  }
  printer.end();
  return code;
}

async function checkOne(
  file: string,
  mapping: Mapping | undefined,
  teller: FilePrinter,
  signal: AbortSignal,
): Promise<0 | 1 | 2> {
  try {
    const checked = await checkFile(file, mapping, teller, signal);
    teller.done(checked);
    return checked.invalid > 0 ? 2 : 0;
  } catch (error) {
    if (!(error instanceof PoSyncError)) throw error;
    teller.failed(error);
    return error.code.startsWith('unreadable-') ? 2 : 1;
  }
}

/** The mapping of the named source; without a name that of the only source, else the specification's own names. */
function mappingFor(name: string | undefined, { sources, mappings }: Config): Mapping | undefined {
  const only = sources.length === 1 ? sources[0] : undefined;
  const source = name === undefined ? only : sources.find((one) => one.name === name);
  if (name !== undefined && source === undefined)
    throw unknownSource(
      name,
      sources.map((one) => one.name),
    );
  return source?.mapping === undefined ? undefined : mappings[source.mapping];
}

function unknownSource(name: string, names: readonly string[]): PoSyncError {
  const near = nearest(name, names);
  return new PoSyncError('source-unknown', `There is no source ${name}.`, {
    remedy: near === undefined ? `There are: ${names.join(', ') || 'none'}.` : `Did you mean ${near}?`,
    facts: { source: name },
  });
}

function textPrinter(shell: Shell): CheckPrinter {
  return {
    begin: () => undefined,
    file: (file) => ({
      onFormat: (format, records, warnings) => shell.out(formatText(file, format, records, warnings)),
      onProblem: (problem, order) => shell.out(problemText(file, problem, order)),
      done: (checked) => shell.out(resultText(file, checked)),
      failed: (error) => shell.err(failureText(file, error)),
    }),
    end: () => undefined,
  };
}
